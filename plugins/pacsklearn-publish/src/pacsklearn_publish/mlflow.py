"""Published pacsklearn bundles in MLflow, with their guarantee as tags."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pacsklearn._optional import optional
from pacsklearn_publish import Bundle, load_bundle

_HOME: Final = "./plugins/pacsklearn-publish"
mlflow: Any = optional("mlflow", extra="mlflow", purpose=__name__, home=_HOME)
optional("mlflow.pyfunc", extra="mlflow", purpose=__name__, home=_HOME)

__all__ = ["KEY", "load_model", "log_bundle", "tags_of"]

KEY: Final = "PACSKLEARN_BUNDLE_KEY"
"""Environment variable with the path of the public key that served models are checked by."""
# Not pacsklearn and this distribution: on an index their names may be somebody else's.
_REQUIRED: Final = ("scikit-learn", "skops", "cryptography")


def log_bundle(
    path: str | os.PathLike[str], *, key: str | os.PathLike[str], name: str = "model"
) -> Any:
    """Log a bundle to the active run, as a pyfunc with tags and artefacts.

    Parameters
    ----------
    path : str or path-like
        What :func:`pacsklearn_publish.publish` wrote.
    key : str or path-like
        The curator's public key; a bundle that it does not fit is not logged.
    name : str, default="model"
        Of the logged model.

    Returns
    -------
    mlflow.models.model.ModelInfo

    Raises
    ------
    pacsklearn.exceptions.BundleError
        When the bundle is not what was signed.
    """
    bundle = load_bundle(path, key=key)
    info = mlflow.pyfunc.log_model(
        name=name,
        loader_module="pacsklearn_publish.mlflow_loader",
        data_path=str(Path(path).expanduser()),
        pip_requirements=[f"{name}=={version(name)}" for name in _REQUIRED],
        metadata=tags_of(bundle),
    )
    mlflow.set_logged_model_tags(info.model_id, tags_of(bundle))
    for member in ("guarantee.json", "card.html"):
        mlflow.log_text(bundle.read(member).decode(), f"{name}/{member}")
    return info


def load_model(uri: str, *, key: str | os.PathLike[str]) -> Any:
    """Return the scikit-learn model of a logged bundle, with ``pacsklearn_guarantee_``.

    Parameters
    ----------
    uri : str
        As in ``info.model_uri``.
    key : str or path-like
        The curator's public key.

    Raises
    ------
    pacsklearn.exceptions.BundleError
        When what the server returned is not what was signed.
    """
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=uri))
    (found,) = (folder / "data").glob("*")
    return load_bundle(found, key=key).model()


def tags_of(bundle: Bundle) -> dict[str, str]:
    """Return what is promised, as tags."""
    guarantee = bundle.guarantee
    return {
        "pacsklearn.promise": guarantee.promise,
        "pacsklearn.status": str(guarantee.status),
        "pacsklearn.spent": f"{guarantee.spent:.6g} of {guarantee.budget:.6g} {guarantee.unit}",
        "pacsklearn.signed_by": bundle.signed_by,
        "pacsklearn.ledger_head": guarantee.ledger_head or "none",
    }
