"""Scale and intercepts of scores whose directions are known, by maximum likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.information.arrays import Floats

_MOST_STEPS = 60
_SMALLEST_STEP = 1e-10
# Keeps the scale finite where the scores part the classes.
_PENALTY = 0.01


def calibrated(scores: Floats, codes: NDArray[np.intp]) -> tuple[float, Floats]:
    """Scale ``a`` and intercepts ``b`` of class probabilities ``softmax(a scores + b)``.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, K)
    codes : ndarray of shape (n_rows,)
        Class of each row; every class occurs.

    Returns
    -------
    float, ndarray of shape (K,)
        The first class's intercept is zero.

    Notes
    -----
    Newton's method, to rounding. The scores' differences are taken in units of their standard
    deviation, where the scale has a small penalty: the problem is strictly convex.
    """
    n_classes = scores.shape[1]
    apart = scores[:, 1:] - scores[:, :1]
    centre = apart.mean(axis=0)
    apart = apart - centre
    size = float(np.sqrt(np.mean(apart**2)))
    units = apart / size if size > 0 else np.zeros_like(apart)
    truth = np.eye(n_classes)[codes][:, 1:]
    penalty = np.zeros(n_classes)
    penalty[0] = _PENALTY

    def objective(w: Floats) -> float:
        logits = w[0] * units + w[1:]
        loss = np.sum(np.logaddexp(0.0, _total(logits))) - np.sum(truth * logits)
        return float(loss + penalty @ w**2 / 2)

    w = np.zeros(n_classes)
    value = objective(w)
    for _ in range(_MOST_STEPS):
        logits = w[0] * units + w[1:]
        p = np.exp(logits - np.logaddexp(0.0, _total(logits))[:, None])
        wrong, scaled = p - truth, p * units
        gradient = np.concatenate([[np.sum(wrong * units)], wrong.sum(axis=0)]) + penalty * w
        # Mean of each row's features under its probabilities: the scale's, then the intercepts'.
        mean = np.column_stack([scaled.sum(axis=1), p])
        bent = np.diag(np.concatenate([[np.sum(scaled * units)], p.sum(axis=0)]))
        bent[0, 1:] = bent[1:, 0] = scaled.sum(axis=0)
        step = np.linalg.solve(bent - mean.T @ mean + np.diag(penalty), -gradient)
        length = 1.0
        while length > _SMALLEST_STEP:
            reached = objective(w + length * step)
            if reached <= value + 1e-12 * abs(value):
                break
            length /= 2
        w, value = w + length * step, reached
        if np.abs(step).max() <= _SMALLEST_STEP * max(1.0, float(np.abs(w).max())):
            break
    scale = float(w[0] / size) if size > 0 else 0.0
    return scale, np.concatenate([[0.0], w[1:] - scale * centre])


def _total(logits: Floats) -> Floats:
    """Logarithm of the sum of the exponentials of each row; that of the first class is one."""
    return logits[:, 0] if logits.shape[1] == 1 else np.asarray(logsumexp(logits, axis=1))
