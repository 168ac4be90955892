"""Published pacsklearn bundles on the Hugging Face Hub."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from pacsklearn._optional import optional
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn_publish import load_bundle

__all__ = ["push", "write_folder"]

_BUNDLE: Final = "model.pac"
_COPIED: Final = ("README.md", "card.json", "model.skops", "guarantee.json", "software.cdx.json")
_MADE: Final = (".gitattributes", "config.json")
_LARGE: Final = "filter=lfs diff=lfs merge=lfs -text"
_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+")


def write_folder(
    bundle: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str],
) -> Path:
    """Write the files of a model repository; nothing leaves the machine.

    Parameters
    ----------
    bundle : str or path-like
        What :func:`pacsklearn_publish.publish` wrote.
    folder : str or path-like
        Made, and has to be empty: whatever is in it would be pushed.
    key : str or path-like
        The curator's public key.

    Returns
    -------
    Path

    Raises
    ------
    pacsklearn.exceptions.BundleError
        When the bundle is not what was signed.
    FileExistsError
        When the folder is not empty.
    """
    found = load_bundle(bundle, key=key)
    model = found.model()
    target = Path(folder).expanduser()
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise FileExistsError(
            f"{target.name} must be empty, since all that is in it would be pushed."
        )
    for name in (*_COPIED, *({"model.onnx"} & {*found.names})):
        (target / name).write_bytes(found.read(name))
    (target / _BUNDLE).write_bytes(Path(bundle).expanduser().read_bytes())
    lines = [f"*.{kind} {_LARGE}\n" for kind in ("pac", "skops", "onnx")]
    (target / ".gitattributes").write_text("".join(lines))
    (target / "config.json").write_text(json.dumps(_config(found, model), indent=1) + "\n")
    return target


def push(
    folder: str | os.PathLike[str], repository: str, *, private: bool = False, api: Any = None
) -> str:
    """Push a folder that :func:`write_folder` wrote.

    Parameters
    ----------
    folder : str or path-like
    repository : str
        ``"owner/name"``; made when it is not there.
    private : bool, default=False
        Whether a new repository is private.
    api : huggingface_hub.HfApi, optional

    Returns
    -------
    str
        Address of the commit.

    Raises
    ------
    ValueError
        When the folder is not as :func:`write_folder` wrote it, or the repository has no owner.
    pacsklearn.exceptions.BundleError
        When the bundle in it is damaged.
    """
    place = Path(folder).expanduser()
    if not (place / _BUNDLE).is_file():
        raise ValueError(f"{place.name} holds no {_BUNDLE}; write_folder makes such a folder.")
    if not _NAME.fullmatch(repository):
        raise ValueError(f"repository must be 'owner/name', got {repository!r}.")
    bundle = load_bundle(place / _BUNDLE, key=None)  # its signature was checked when it was written
    copied = {*_COPIED, "model.onnx"} & {*bundle.names}
    files = {each.relative_to(place).as_posix() for each in place.rglob("*") if each.is_file()}
    others = files - copied - {_BUNDLE, *_MADE}
    others |= {each for each in copied & files if (place / each).read_bytes() != bundle.read(each)}
    if others:
        raise ValueError(
            f"{place.name} holds what write_folder did not write, and would push it: {min(others)}."
        )
    if api is None:
        home, what = "./plugins/pacsklearn-publish", "Pushing to the Hugging Face Hub"
        api = optional("huggingface_hub", extra="huggingface", purpose=what, home=home).HfApi()
    api.create_repo(repository, private=private, exist_ok=True)
    done = api.upload_folder(
        repo_id=repository, folder_path=str(place), commit_message="Released model, signed bundle"
    )
    return str(done.commit_url)


def _config(bundle: Any, model: Any) -> dict[str, Any]:
    """Return the configuration as skops gives it to the Hub."""
    software = json.loads(bundle.read("software.cdx.json"))
    versions = {part["name"]: part["version"] for part in software["components"]}
    task = "tabular-classification" if hasattr(model, "classes_") else "tabular-regression"
    return {
        "sklearn": {
            "columns": [field["name"] for field in bundle.inputs["columns"]["fields"]],
            "environment": [
                f"{name}={versions[name]}" for name in ("scikit-learn", "pacsklearn", "skops")
            ],
            "model": {"file": "model.skops"},
            "model_format": "skops",
            "task": task,
            "use_intelex": False,
        },
        "pacsklearn": {
            "bundle": _BUNDLE,
            "promise": bundle.guarantee.promise,
            "digest": model_digest(model),
            "signed_by": bundle.signed_by,
        },
    }
