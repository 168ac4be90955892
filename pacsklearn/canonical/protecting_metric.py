"""Keep noise out of directions that a task needs."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.universe.metrics import check_length


@final
class ProtectingMetric(Metric):
    """Noise along given directions costs far more than anywhere else.

    A backend then hides the secret with noise in the other directions as long as the budget
    allows it, and touches these only when it must.

    Parameters
    ----------
    directions : array-like of shape (r, d)
        Span of what the task needs, in the coordinates of the released vector: for a classifier's
        logits the differences of classes.
    metric : Metric, optional
        What noise costs otherwise; every coordinate the same when not given.
    weight : float, default=1e4
        Extra cost of a unit of noise variance along the directions.

    Notes
    -----
    Source: the task-critical subspace of residual-pac, section 5.2 and Proposition 7. With the
    ``residual`` backend directions that all likely candidates agree on up to a few values keep
    almost no noise once the budget covers the entropy of those values.
    """

    def __init__(
        self, directions: ArrayLike, *, metric: Metric | None = None, weight: float = 1e4
    ) -> None:
        rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))
        if rows.ndim != 2 or rows.size == 0 or not np.all(np.isfinite(rows)) or not np.any(rows):
            raise ValueError(
                "directions must be finite vectors, one a row, and not all zero; got an array of "
                f"shape {rows.shape}."
            )
        if not 0 < weight < np.inf:
            raise ValueError(f"weight must be positive and finite, got {weight!r}.")
        _, singular, right = np.linalg.svd(rows, full_matrices=False)
        self._basis = right[singular > singular[0] * rows.shape[1] * np.finfo(float).eps]
        self._metric = IdentityMetric() if metric is None else metric
        self._weight = float(weight)

    def root(self, rows: Floats) -> Floats:
        check_length(rows, self._basis.shape[1])
        protected = np.sqrt(self._weight) * (rows @ self._basis.T)
        return np.hstack([self._metric.root(rows), protected])
