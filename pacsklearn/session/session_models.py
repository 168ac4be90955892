"""The candidates' models in a session file that has no key: as skops writes them, without code."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pacsklearn.candidates.models import CandidateModels
from pacsklearn.candidates.stacked_linear import stack
from pacsklearn.core.model_digest import model_digest
from pacsklearn.exceptions import BundleError, SessionFileError

__all__ = ["models_from", "models_without_code"]


def models_without_code(models: Mapping[str, CandidateModels]) -> bytes | None:
    """Models as skops writes them; None when it cannot, or they consist of other classes than ours.

    Nothing is returned that would not be read back as the same models, bit for bit.
    """
    if find_spec("skops") is None:
        return None
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    from pacsklearn.publishing.model_file import from_file

    plain = {
        name: {"models": list(each.models), "n_jobs": each.n_jobs} for name, each in models.items()
    }
    try:
        content: bytes = skops.io.dumps(plain)
        again = from_file(content)
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError, BundleError):
        return None
    is_same = all(
        model_digest(ours) == model_digest(theirs)
        for name, each in models.items()
        for ours, theirs in zip(each.models, again[name]["models"], strict=True)
    )
    return content if is_same else None


def models_from(content: bytes) -> dict[str, CandidateModels]:
    """What :func:`models_without_code` wrote; calls nothing but classes on a list of ours.

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

    return {
        name: CandidateModels(tuple(each["models"]), stack(each["models"]), each["n_jobs"])
        for name, each in from_file(content).items()
    }
