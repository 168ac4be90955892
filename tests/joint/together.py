"""Joint fits of all candidates, as tests ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace

__all__ = ["scored_table", "together"]


def together(estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
    """Model of each candidate, None where it is left to the ordinary fit."""
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    return fitter.fit_all(estimator, X, y, space)


def scored_table(generator: np.random.Generator, n: int, p: int) -> tuple[Any, Any, Any, Any]:
    """Rows (n, p) of unlike features, noisy scores, and two and three classes by these."""
    X = generator.normal(size=(n, p)) * np.arange(1, p + 1) + 20
    scores = X @ generator.normal(size=p) + 5 * generator.normal(size=n)
    two = np.digitize(scores, [np.median(scores)])
    names = np.array(["c", "a", "b"])[np.digitize(scores, np.quantile(scores, [0.4, 0.8]))]
    return X, scores, two, names
