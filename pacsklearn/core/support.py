"""The outputs of the mechanism over the whole secret space."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.metric import Metric
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import SpanCoordinates, span_coordinates


@final
@dataclass(frozen=True, eq=False)
class Support:
    """What the mechanism would say for each candidate secret, and how likely each is.

    Secret material: it never leaves the coordinating process and is never part of a release.

    Parameters
    ----------
    outputs : ndarray of shape (m, d)
        Canonical vector of each candidate.
    weights : ndarray of shape (m,), optional
        The adversary's current belief; uniform when not given.
    """

    outputs: Floats = field(repr=False)
    weights: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    def __post_init__(self) -> None:
        outputs = np.asarray(self.outputs, dtype=np.float64)
        if outputs.ndim != 2 or outputs.shape[0] < 2:
            raise ValueError(
                "outputs must have shape (n_candidates >= 2, n_outputs), got an array of shape "
                f"{outputs.shape}."
            )
        if not np.all(np.isfinite(outputs)):
            raise ValueError("outputs must be finite; some candidate's output is nan or infinite.")
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.size == 0:
            weights = np.full(outputs.shape[0], 1.0 / outputs.shape[0])
        usable = bool(np.all((weights >= 0) & (weights < np.inf))) and weights.sum() > 0
        if weights.shape != (outputs.shape[0],) or not usable:
            raise ValueError(
                f"weights must be {outputs.shape[0]} finite numbers >= 0, one for each candidate, "
                f"got an array of shape {weights.shape}."
            )
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def n_candidates(self) -> int:
        """Number m of candidate secrets."""
        return int(self.outputs.shape[0])

    @property
    def entropy(self) -> float:
        """Entropy of the belief over the candidates, in nats."""
        positive = self.weights[self.weights > 0]
        return float(-np.sum(positive * np.log(positive)))

    @cached_property
    def mean(self) -> Floats:
        """Weighted mean output, exact where all candidates agree; shape (d,)."""
        mean = self.weights @ self.outputs
        agreed = self._agreed
        # Weights sum to one but for rounding: equal outputs would get a mean beside them.
        mean[agreed] = self.outputs[0, agreed]
        return mean

    @cached_property
    def deviations(self) -> Floats:
        """Outputs minus their mean, exactly zero where all candidates agree; shape (m, d)."""
        deviations = self.outputs - self.mean
        deviations[:, self._agreed] = 0.0
        return deviations

    @cached_property
    def _agreed(self) -> NDArray[np.bool_]:
        return np.asarray(np.ptp(self.outputs, axis=0) == 0)

    def span(self, metric: Metric) -> SpanCoordinates:
        """Principal coordinates of the outputs, as the metric sees them."""
        return span_coordinates(metric.root(self.deviations), self.weights)
