"""The candidates' models in a session file: as skops writes them, without code, where it can."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pacsklearn.candidates.models import CandidateModels, stack
from pacsklearn.core.model_digest import model_digest
from pacsklearn.exceptions import BundleError, SessionFileError


def models_without_code(models: Mapping[str, CandidateModels]) -> dict[str, bytes]:
    """Those models that skops can write, by name; others hold other classes than ours.

    Nothing is returned that would not be read back as the same models, bit for bit.
    """
    if find_spec("skops") is None:
        return {}
    written = {name: _without_code(each) for name, each in models.items()}
    return {name: content for name, content in written.items() if content is not None}


def _without_code(models: CandidateModels) -> bytes | None:
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    from pacsklearn.publishing.model_file import from_file

    try:
        content: bytes = skops.io.dumps({"models": list(models.models), "n_jobs": models.n_jobs})
        # Read back and compared: a writer that drops a digit would change answers after loading.
        again = from_file(content)["models"]
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError, BundleError):
        return None
    pairs = zip(models.models, again, strict=True)
    return (
        content if all(model_digest(ours) == model_digest(read) for ours, read in pairs) else None
    )


def models_from(content: bytes) -> CandidateModels:
    """Models that :func:`models_without_code` wrote; calls only classes on a list of ours.

    Raises
    ------
    SessionFileError
        When skops is not installed.
    BundleError
        When the content asks for anything else.
    """
    if find_spec("skops") is None:
        raise SessionFileError(
            "This session's models are in skops's format: pip install 'pacsklearn[publish]'."
        )
    from pacsklearn.publishing.model_file import from_file

    read = from_file(content)
    return CandidateModels(tuple(read["models"]), stack(read["models"]), read["n_jobs"])
