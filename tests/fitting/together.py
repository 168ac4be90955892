"""Joint fits of all candidates, as tests ask for them."""

from __future__ import annotations

from typing import Any

from pacsklearn import SecretSpace
from pacsklearn.plugin import registry

__all__ = ["together"]


def together(estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
    """Model of each candidate, None where it is left to the ordinary fit."""
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    return fitter.fit_all(estimator, X, y, space)
