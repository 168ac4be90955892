"""Heuristic: the infinity-Wasserstein distance by entropic transport, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

__all__ = ["sinkhorn_distance"]

Floats = NDArray[np.float64]

_FORBIDDEN = 1e3
_MARGINAL = 1e-6


def sinkhorn_distance(
    X: Floats,
    Y: Floats,
    *,
    regularization: float = 0.05,
    thresholds: Sequence[float] | None = None,
    n_iterations: int = 2000,
) -> float:
    """Entropic surrogate of the infinity-Wasserstein distance of two samples of vectors.

    *Heuristic*: no release is calibrated to it. It neither equals the distance nor bounds it
    dependably, and is here to compare with.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (m, d)
    regularization : float, default=0.05
        Weight of the Kullback-Leibler penalty.
    thresholds : sequence of float, optional
        Candidate distances; 32 quantiles of all distances when not given.
    n_iterations : int, default=2000
        Most Sinkhorn iterations for each threshold.

    Returns
    -------
    float
        Least ``threshold + regularization * KL`` over the thresholds that iterations show to be
        feasible.

    Raises
    ------
    ImportError
        When POT is not installed (``pip install ".[transport]"``).

    Notes
    -----
    Source: srpp, appendix A.5 (equation 24), with the solver of POT.
    """
    try:
        import ot  # an optional package
    except ImportError as error:
        raise ImportError(
            "The Sinkhorn baseline needs POT; install it with pip install '.[transport]'."
        ) from error
    distances = cdist(X, Y)
    a, b = np.full(X.shape[0], 1 / X.shape[0]), np.full(Y.shape[0], 1 / Y.shape[0])
    if thresholds is None:
        thresholds = np.quantile(distances, np.linspace(0, 1, 32)).tolist()
    best = float(distances.max())
    for threshold in thresholds:
        within = distances <= threshold
        if threshold >= best or not (within.any(axis=0).all() and within.any(axis=1).all()):
            continue
        plan = ot.sinkhorn(
            a,
            b,
            np.where(within, 0.0, _FORBIDDEN),
            reg=1.0,
            method="sinkhorn_log",
            numItermax=n_iterations,
            stopThr=_MARGINAL,
            warn=False,
        )
        off = np.abs(plan.sum(axis=1) - a).sum() + np.abs(plan.sum(axis=0) - b).sum()
        if off > 10 * _MARGINAL or plan[~within].sum() > _MARGINAL:
            continue
        positive = plan > 0
        penalty = plan[positive] @ np.log(plan[positive] / np.outer(a, b)[positive])
        best = min(best, float(threshold) + regularization * max(float(penalty), 0.0))
    return best
