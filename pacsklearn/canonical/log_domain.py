"""Positive numbers and probabilities as logarithms, so that every noisy one is a valid one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.information.arrays import Floats

# Its exponential, squares and sums of it are finite doubles.
_LARGEST_LOG = 200.0


def positive(logarithms: Floats) -> Floats:
    """Positive finite numbers from their logarithms."""
    return np.asarray(np.exp(np.clip(logarithms, -_LARGEST_LOG, _LARGEST_LOG)))


def log_simplex(logarithms: Floats) -> Floats:
    """Logarithms of positive probabilities that sum to one along the last axis."""
    below = logarithms - logarithms.max(axis=-1, keepdims=True)
    below = np.maximum(below, -_LARGEST_LOG)
    return np.asarray(below - np.log(np.exp(below).sum(axis=-1, keepdims=True)))


def simplex(logarithms: Any) -> Floats:
    """Positive probabilities that sum to one along the last axis."""
    probabilities = np.exp(log_simplex(logarithms))
    return np.asarray(probabilities / probabilities.sum(axis=-1, keepdims=True))
