"""Candidates' models in a session's file, where skops can write them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.outputs.models import CandidateModels, stack
from pacsklearn.universe.row_rules import RowRules


def models_without_code(models: Mapping[str, CandidateModels]) -> dict[str, NDArray[np.uint8]]:
    """Return those models that skops can write, by name, as bytes; others are fitted again.

    Nothing is returned that would not be read back as the same models, bit for bit.
    """
    if find_spec("skops") is None:
        return {}
    written = {name: _without_code(each) for name, each in models.items()}
    return {
        name: np.frombuffer(content, np.uint8)
        for name, content in written.items()
        if content is not None
    }


def _without_code(models: CandidateModels) -> bytes | None:
    from skops.io.exceptions import UnsupportedTypeException

    from pacsklearn.estimators.model_file import from_file, skops_file

    try:
        content = skops_file({"models": list(models.models), "n_jobs": models.n_jobs})
        # Read back and compared: a writer that drops a digit would change answers after loading.
        again = from_file(content)["models"]
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError, BundleError):
        return None
    pairs = zip(models.models, again, strict=True)
    return (
        content if all(model_digest(ours) == model_digest(read) for ours, read in pairs) else None
    )


def models_from(content: NDArray[np.uint8]) -> CandidateModels | None:
    """Return models that :func:`models_without_code` wrote; calls only classes on a list of ours.

    None where skops is not installed, or another version of scikit-learn wrote them: they are
    fitted again.

    Raises
    ------
    BundleError
        When the content asks for anything else.
    """
    if find_spec("skops") is None:
        return None
    from sklearn.exceptions import InconsistentVersionWarning

    from pacsklearn.estimators.model_file import from_file

    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        read: Any = from_file(content.tobytes())
    models = tuple(read["models"])
    return CandidateModels(models, RowRules.of(models[0]), stack(models), read["n_jobs"])
