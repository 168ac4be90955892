"""Metrics that are made of other ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import check_length


@final
@dataclass(frozen=True)
class BlockMetric(Metric):
    """One metric for each of several consecutive stretches of the vector.

    Parameters
    ----------
    blocks : sequence of (int, Metric)
        Length of each stretch and its metric.
    """

    blocks: tuple[tuple[int, Metric], ...]

    def root(self, rows: Floats) -> Floats:
        check_length(rows, sum(length for length, _ in self.blocks))
        parts, start = [], 0
        for length, metric in self.blocks:
            parts.append(metric.root(rows[:, start : start + length]))
            start += length
        return np.concatenate(parts, axis=1) if parts else rows


@final
@dataclass(frozen=True)
class ScaledMetric(Metric):
    """``weight`` times another metric, sharing its root."""

    weight: float
    metric: Metric

    def __post_init__(self) -> None:
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"weight of a metric must be finite and >= 0, got {self.weight!r}.")

    def root(self, rows: Floats) -> Floats:
        return np.asarray(self.metric.root(rows) * np.sqrt(self.weight))
