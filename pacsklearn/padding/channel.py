"""Exact mutual information of a finite channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.bounds.rounding import OUTWARD


def channel_information(weights: ArrayLike, channel: ArrayLike) -> float:
    """Return the mutual information between what goes into a channel and what comes out.

    Parameters
    ----------
    weights : array-like of shape (n,)
        Probabilities of the inputs, summing to one.
    channel : array-like of shape (n, w)
        Probabilities of the outputs for each input; rows sum to one.

    Returns
    -------
    float
        Nats, rounded outward; 0.0 when all inputs of positive weight have the same row.

    Notes
    -----
    With ``x`` the ratio of an output's probability given the input to its probability overall,
    the terms ``x ln x - x + 1`` are non-negative and sum to the same, without cancellation.

    Examples
    --------
    >>> from pacsklearn.bounds import channel_information
    >>> round(channel_information([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]), 6)
    0.693147
    """
    p, rows = np.asarray(weights, dtype=np.float64), np.asarray(channel, dtype=np.float64)
    if rows.ndim != 2 or p.shape != rows.shape[:1] or rows.size == 0:
        raise ValueError(
            "channel must have one row for each of the weights, got shapes "
            f"{p.shape} and {rows.shape}."
        )
    if not (
        np.all(p >= 0.0)
        and np.all(rows >= 0.0)
        and abs(float(p.sum()) - 1.0) <= 1e-9
        and np.all(np.abs(rows.sum(axis=1) - 1.0) <= 1e-9)
    ):
        raise ValueError("weights and every row of channel must be >= 0 and sum to one.")
    possible = p > 0.0
    p, rows = p[possible] / p.sum(), rows[possible]
    rows = rows[:, np.any(rows > 0.0, axis=0)]
    # Differences to one row: exactly zero where all agree, whatever the rounding of the mean.
    base = rows[np.argmax(p)]
    overall = base + p @ (rows - base)
    # Subnormal probabilities count as the smallest normal one: far below the outward factor.
    overall = np.maximum(overall, np.finfo(np.float64).tiny)
    x = (rows - overall) / overall
    d = np.clip(x, -1e-3, 1e-3)
    series = d * d * (1 / 2 - d * (1 / 6 - d * (1 / 12 - d / 20)))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log1p(np.where(np.abs(x) < 0.5, x, 0.0))
        ratio = np.where(np.abs(x) < 0.5, near, np.log(rows) - np.log(overall))
        logs = np.where(rows > 0.0, rows * ratio, 0.0)
    exact = logs - (rows - overall)
    terms = np.where(np.abs(x) < 1e-3, overall * series, exact)
    return float(np.sum(p @ np.maximum(terms, 0.0))) * OUTWARD
