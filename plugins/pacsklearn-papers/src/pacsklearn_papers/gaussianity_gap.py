"""How far a Gaussian mixture is from the Gaussian of the same mean and covariance."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats

_LARGEST_SIGNAL = 1e8


@final
class GapCorrection(NamedTuple):
    """What a log-determinant bound may be lowered by afterwards.

    Attributes
    ----------
    value : float
        Lower bound of the gap, in nats, at least 0.
    estimate : float
        The same without allowance for chance; no bound.
    confidence : float
        Probability that ``value`` is at most the gap; 1.0 when nothing was drawn.
    method, source : str
    """

    value: float
    estimate: float
    confidence: float
    method: str
    source: str


@final
@dataclass(frozen=True, eq=False)
class SurrogateGap:
    """A release ``Z = z_s + N(0, diag(noise))`` and the Gaussian that a bound puts in its place.

    The gap ``KL(law of Z || Gaussian of the same mean and covariance)`` is what the
    log-determinant bound has over the mutual information. Source: residual-pac, section 3.

    Parameters
    ----------
    points : ndarray of shape (m, k)
        Outputs in coordinates in which the noise is independent.
    weights : ndarray of shape (m,)
        Their probabilities.
    noise : ndarray of shape (k,)
        Noise variances, positive.

    Notes
    -----
    For a ``NoiseLaw``: ``SurrogateGap(law.centres, belief, numpy.full(k, law.scale**2))``.

    Examples
    --------
    >>> from pacsklearn_papers import SurrogateGap
    >>> SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [0.5]).covariance
    array([[1.5]])
    """

    points: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    noise: Floats = field(repr=False)

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=np.float64)
        weights = np.asarray(self.weights, dtype=np.float64)
        noise = np.asarray(self.noise, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] == 0 or noise.shape != points.shape[1:]:
            raise ValueError(
                "points must have shape (m, k >= 1) and noise one variance for each of the k "
                f"coordinates, got shapes {points.shape} and {noise.shape}."
            )
        if weights.shape != points.shape[:1] or not (
            np.all(weights >= 0.0) and abs(float(weights.sum()) - 1.0) <= 1e-9
        ):
            raise ValueError(
                "weights must be one probability for each point and sum to one, got shape "
                f"{weights.shape}."
            )
        if not (np.all(noise > 0.0) and np.all(np.isfinite(points)) and np.all(noise < np.inf)):
            raise ValueError("noise must be positive and finite, and points must be finite.")
        used = weights > 0.0
        weights = weights[used] / weights.sum()
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "points", points[used] - weights @ points[used])
        object.__setattr__(self, "noise", noise)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the release, of shape (k, k)."""
        signal = self.points.T @ (self.weights[:, None] * self.points)
        return np.asarray(signal + np.diag(self.noise))

    @property
    def is_resolved(self) -> bool:
        """Whether doubles hold the covariance of the release to seven digits in every direction.

        It does not where points are 1e4 noise deviations apart and more: the noise drowns in the
        rounding of the signal, and a bound computed from it could be anything.
        """
        scaled = self.points / np.sqrt(self.noise)
        return bool(np.sum(self.weights @ scaled**2) < _LARGEST_SIGNAL)

    @property
    def logdet(self) -> float:
        """The log-determinant bound, in nats."""
        # Deviations, whose product is a double wherever variances are.
        scaled = self.covariance / np.outer(*[np.sqrt(self.noise)] * 2)
        return float(0.5 * np.linalg.slogdet(scaled)[1])

    @cached_property
    def _root(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self.covariance))

    def draw(self, generator: np.random.Generator, n: int) -> Floats:
        """Return independent draws of the centred release; shape (n, k)."""
        which = generator.choice(self.weights.size, n, p=self.weights)
        shift = generator.normal(size=(n, self.noise.size)) * np.sqrt(self.noise)
        return np.asarray(self.points[which] + shift)

    def draw_gaussian(self, generator: np.random.Generator, n: int) -> Floats:
        """Return independent draws of the Gaussian in its place; shape (n, k)."""
        return np.asarray(generator.normal(size=(n, self.noise.size)) @ self._root.T)

    def log_ratio(self, rows: ArrayLike) -> Floats:
        """Return log-density of the release over that of the Gaussian, at rows of shape (n, k)."""
        y = np.asarray(rows, dtype=np.float64)
        deviation = np.sqrt(self.noise)
        scaled = self.points / deviation
        offset = np.log(self.weights) - 0.5 * np.sum(scaled**2, axis=1)
        ratios = np.empty(y.shape[0])
        # The squares of y itself are common to all components and are taken out.
        step = MOST_CELLS // self.weights.size
        for start in range(0, y.shape[0], step):
            part = y[start : start + step] / deviation
            ratios[start : start + step] = logsumexp(part @ scaled.T + offset, axis=1)
            ratios[start : start + step] -= 0.5 * np.sum(part**2, axis=1)
        white = solve_triangular(self._root, y.T, lower=True)
        return np.asarray(ratios + 0.5 * np.sum(white**2, axis=0) + self.logdet)
