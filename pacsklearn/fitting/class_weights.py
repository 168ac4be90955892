"""Weights of classes, as each candidate's own labels give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.information.arrays import Floats


def are_usable(weights: Any) -> bool:
    """Whether a joint fit knows this ``class_weight``; others are left to the ordinary fit."""
    if isinstance(weights, dict):
        numbers = [isinstance(value, (int, float)) for value in weights.values()]
        return all(numbers) and all(0 < value < np.inf for value in weights.values())
    return weights is None or (isinstance(weights, str) and weights == "balanced")


def class_weights(weights: Any, classes: Any, counts: Floats) -> Floats | None:
    """Weight of each class in each candidate; None where all rows weigh one.

    Parameters
    ----------
    weights : dict, "balanced" or None
        ``class_weight``. Classes that are not in the dict weigh one.
    classes : array-like of shape (K,)
    counts : ndarray of shape (m, K) or (K,)
        Rows of each class, of that candidate alone.

    Returns
    -------
    ndarray of the shape of ``counts``, or None
    """
    if weights is None:
        return None
    if isinstance(weights, dict):
        by_class = [float(weights.get(label, 1.0)) for label in np.asarray(classes).tolist()]
        return np.broadcast_to(np.array(by_class), counts.shape)
    whole, k = counts.sum(axis=-1, keepdims=True), counts.shape[-1]
    return np.asarray(whole / (k * np.maximum(counts, 1.0)))
