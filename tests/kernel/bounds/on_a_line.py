"""Distances of samples on a line, by the function that has many lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.srpp.divergence.world_distances import sliced_distances


def quantile_distance(x: Any, y: Any) -> float:
    """Infinity-Wasserstein distance between two samples of numbers."""
    X, Y = (np.asarray(each)[..., None] for each in (x, y))
    (distance,) = sliced_distances(X, Y, np.ones((1, 1)))
    return float(distance)
