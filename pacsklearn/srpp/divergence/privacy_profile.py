"""How well one noised step tells two data sets apart, at every level of certainty.

A *profile* is the curve ``delta(epsilon)``: the largest ``P(A) - exp(epsilon) Q(A)`` over events
``A``, for the releases ``P`` and ``Q`` of two data sets, in either direction. ``k`` rows that
differ are drawn into the batch with probability ``law[k]``; noise has standard deviation 1.

Two facts are enough. Let ``R`` be a Gaussian and ``A`` an event with ``R(A) = F(-t)``, ``F`` the
normal distribution function. A Gaussian whose mean is ``r`` away has ``A`` with probability
``F(r - t)`` at most and ``F(-r - t)`` at least (Neyman and Pearson), whatever the directions.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from pacsklearn.kernel.bounds.arrays import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
# What lies this many nats below the largest value of an integrand is left out.
_NEGLIGIBLE = 46.0
_MOST_PANELS = 1500
_LARGEST_TILT = 4000.0
_MOST_COUNTS = 256
_MOST_WITH_CORNERS = 48
_UNLIKELY = 20.0
_CORNER_PANELS = 100
_MANY_CORNERS = 24


@final
@dataclass(frozen=True, eq=False)
class ProfilePoints:
    """Points of a profile, for increasing levels.

    Parameters
    ----------
    epsilon, slope, log_delta : ndarray of shape (n,)
        Level in nats, its derivative in the parameter of the curve, and the logarithm of delta.
    """

    epsilon: Floats
    slope: Floats
    log_delta: Floats


class StepProfile(ABC):
    """Profile of one step, as a curve with a parameter: the threshold of the best test.

    Profiles are the same in both directions, and hold uniformly over what was released before, so
    that steps compose (Zhu, Dong and Wang, Optimal accounting of differential privacy via
    characteristic function, 2022, Theorem 10).
    """

    start: float
    """Threshold at which the level is 0."""
    reach: float
    """Largest shift of a mean."""
    allowance: float = 0.0
    """Relative error of integrals over the curve."""

    @abstractmethod
    def at(self, thresholds: Floats) -> ProfilePoints:
        """Return the points at thresholds above :attr:`start`."""

    def renyi(self, order: float) -> float:
        """Return the Renyi divergence of an order of at least 1, in nats.

        Infinite when too large to compute.

        Notes
        -----
        A Renyi divergence is an integral over the profile: ``1 + order (order - 1)`` times that of
        ``(exp((order - 1) e) + exp(-order e)) delta(e)`` over positive ``e`` is the moment.
        """
        if not order * self.reach < _LARGEST_TILT:
            return math.inf
        log_integral = self._log_integral(order)
        if order == 1:
            return math.exp(log_integral)
        log_moment = float(np.logaddexp(0.0, math.log(order * (order - 1)) + log_integral))
        return log_moment / (order - 1)

    def _log_integral(self, order: float) -> float:
        low, high = self._support(order)
        width = min(0.5, 2 / self.reach)
        n_panels = math.ceil((high - low) / width)
        if n_panels > _MOST_PANELS:
            return math.inf
        edges = np.union1d(np.linspace(low, high, n_panels + 1), self.corners(low, high))
        halves = np.diff(edges)[:, None] / 2
        nodes = (edges[:-1, None] + halves * (1 + _NODES)).ravel()
        logs = self._log_integrand(nodes, order)
        return float(logsumexp(logs, b=(halves * _WEIGHTS).ravel())) + self.allowance

    def corners(self, low: float, high: float) -> Floats:
        """Return the thresholds between two others at which the curve is not smooth."""
        return np.empty(0)

    def _support(self, order: float) -> tuple[float, float]:
        """Return where the integrand is not negligible."""
        low, high = self.start, self.start + order * self.reach + 10.0
        for _ in range(60):
            coarse = low + (high - low) * np.linspace(0.0, 1.0, 97)[1:]
            logs = self._log_integrand(coarse, order)
            kept = np.flatnonzero(logs > logs.max() - _NEGLIGIBLE)
            if kept[-1] == coarse.size - 1:
                high = low + 1.5 * (high - low)
                continue
            first = low if kept[0] == 0 else float(coarse[kept[0] - 1])
            low, high = first, float(coarse[kept[-1] + 1])
            if kept.size > 24:
                break
        return low, high

    def _log_integrand(self, thresholds: Floats, order: float) -> Floats:
        points = self.at(thresholds)
        with np.errstate(divide="ignore"):
            slope = np.log(points.slope)
        tilt = np.logaddexp((order - 1) * points.epsilon, -order * points.epsilon)
        return np.asarray(tilt + points.log_delta + slope)


@final
class OppositeRowsProfile(StepProfile):
    """Differing rows join a sum whose other rows are drawn independently of them (Poisson).

    Parameters
    ----------
    log_law : ndarray of shape (n + 1,)
        Logarithms of the probabilities of 0, 1, ..., n differing rows.
    reach, slack : float
        ``k > 0`` rows move the sum by ``k reach + slack`` at most, against the sum without them.
    below : bool, default=False
        Where counts are too many to be kept apart, merge them downward: a profile that is attained,
        to hold against the one that bounds.

    Notes
    -----
    Without the differing rows both data sets release ``R``. So every event has no larger
    ``P(A) - exp(epsilon) Q(A)`` than a half-line has when the rows of one data set all pull one
    way, and those of the other the other way: the profile is attained by such rows.
    """

    def __init__(
        self, log_law: Floats, reach: float, slack: float = 0.0, *, below: bool = False
    ) -> None:
        self._logs, self.shifts = _components(log_law, reach, slack, below=below)
        self.start, self.reach = 0.0, float(self.shifts.max())

    def at(self, thresholds: Floats) -> ProfilePoints:
        t, shifts, logs = thresholds[:, None], self.shifts, self._logs
        up, down = logs + shifts * t - shifts**2 / 2, logs - shifts * t - shifts**2 / 2
        high, low = logsumexp(up, axis=1), logsumexp(down, axis=1)
        slope = np.exp(up - high[:, None]) @ shifts + np.exp(down - low[:, None]) @ shifts
        epsilon = high - low
        ours = logsumexp(logs + log_ndtr(shifts - t), axis=1)
        theirs = epsilon + logsumexp(logs + log_ndtr(-shifts - t), axis=1)
        return ProfilePoints(epsilon, slope, ours + _log_complement(theirs - ours))


@final
class CommonBatchProfile(StepProfile):
    """Batches of a fixed size: a differing row takes the place of another one.

    Parameters
    ----------
    log_law : ndarray of shape (n + 1,)
        Logarithms of the probabilities of 0, 1, ..., n differing rows.
    reach, slack : float
        Releases of two batches are ``k reach + slack`` apart at most when ``k > 0`` of their rows
        differ, or when one has ``k`` differing rows and the other none.

    Notes
    -----
    Batches without differing rows are common to both data sets. Their part of ``exp(epsilon) Q``
    that ``P`` does not need for its own such batches is shared out among the others, so that
    ``delta(epsilon)`` is at most ``sum law[k] d_k(exp(epsilon) + s_k / law[k])``, ``d_k`` the
    profile of a Gaussian shifted by ``k reach`` and ``sum s_k = (exp(epsilon) - 1) law[0]``; the
    best shares make the tests' thresholds equal. With one differing row this is the bound for
    sampling without replacement of Balle, Barthe and Gaboardi (Privacy amplification by
    subsampling, 2018, Theorem 11), composed as by Zhu, Dong and Wang (2022).
    """

    def __init__(self, log_law: Floats, reach: float, slack: float = 0.0) -> None:
        logs, shifts = _components(log_law, reach, slack, _MOST_WITH_CORNERS)
        self._rest = logs[0] if shifts[0] == 0 else -math.inf
        self._logs, self.shifts = (each[shifts > 0] for each in (logs, shifts))
        self.start = float(self.shifts[0]) / 2
        self.reach = float(self.shifts[-1])
        # So many components have corners closer together than they are looked for.
        self.allowance = 1e-3 if self.shifts.size > _MANY_CORNERS else 0.0

    def at(self, thresholds: Floats) -> ProfilePoints:
        logs, shifts = self._logs, self.shifts
        ratios = shifts * thresholds[:, None] - shifts**2 / 2
        if self._rest == -math.inf:
            # Nothing to share out: known batches are no worse, each with a threshold of its own.
            epsilon = self.reach * thresholds - self.reach**2 / 2 - self._offset
            slope, active = np.full(thresholds.shape, self.reach), np.zeros(ratios.shape, bool)
        else:
            epsilon, slope, active = self._level(ratios)
        own = np.where(active, ratios, epsilon[:, None])
        t = own / shifts + shifts / 2
        ours, theirs = log_ndtr(shifts - t), own + log_ndtr(-t)
        each = logs + ours + _log_complement(theirs - ours)
        return ProfilePoints(epsilon, slope, logsumexp(each, axis=1))

    def corners(self, low: float, high: float) -> Floats:
        """Return where a component begins or ends to get a share, found by bisection."""
        if self._rest == -math.inf or self.shifts.size == 1:
            return np.empty(0)
        grid = np.linspace(low, high, _CORNER_PANELS)
        active = self._active(grid)
        panels, components = np.nonzero(active[1:] != active[:-1])
        before, left, right = active[panels, components], grid[panels], grid[panels + 1]
        for _ in range(30):
            middle = (left + right) / 2
            stays = self._active(middle)[np.arange(middle.size), components] == before
            left, right = np.where(stays, middle, left), np.where(stays, right, middle)
        return np.asarray(right)

    def _active(self, thresholds: Floats) -> NDArray[np.bool_]:
        return self._level(self.shifts * thresholds[:, None] - self.shifts**2 / 2)[2]

    @property
    def _offset(self) -> float:
        return self.reach * self.start - self.reach**2 / 2

    def _level(self, ratios: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return level at which the shares are used up; a component below the level gets none."""
        active = np.ones(ratios.shape, dtype=bool)
        masses = np.exp(self._logs)
        while True:
            inside = np.where(active, self._logs + ratios, -np.inf)
            total = np.logaddexp(self._rest, logsumexp(inside, axis=1))
            free = 1.0 - np.where(active, 0.0, masses).sum(axis=1)
            epsilon = np.maximum(total - np.log(np.maximum(free, math.exp(self._rest))), 0.0)
            kept = active & (ratios > epsilon[:, None])
            if np.array_equal(kept, active):
                slope = np.exp(inside - total[:, None]) @ self.shifts
                return epsilon, slope, active
            active = kept


def _components(
    log_law: Floats, reach: float, slack: float, most: int = _MOST_COUNTS, *, below: bool = False
) -> tuple[Floats, Floats]:
    """Return logarithms of the probabilities of the shifts, and the shifts, in increasing order.

    Where there are many counts some are raised to the next one that is kept, which only makes the
    profile larger; ``below`` lowers them to the one before, which only makes it smaller.
    """
    counts = np.flatnonzero(log_law > -np.inf)
    logs = log_law[counts]
    if counts.size > most:
        likely = np.flatnonzero(logs > logs.max() - _UNLIKELY)
        ends = np.linspace(0, counts.size - 1, most // 4)
        middle = np.linspace(likely[0], likely[-1], 3 * most // 4)
        kept = np.unique(np.concatenate([[0, 1], ends, middle]).round().astype(int))
        starts = kept if below else np.append(0, kept[:-1] + 1)
        logs = np.logaddexp.reduceat(logs, starts)
        counts = counts[kept]
    return logs, np.where(counts > 0, counts * reach + slack, 0.0)


def _log_complement(logs: Floats) -> Floats:
    """Return ``ln(1 - exp(logs))``, negative infinity where rounding leaves nothing."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(np.minimum(logs, 0.0))))
