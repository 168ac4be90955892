"""(epsilon, delta) of many steps from the profile of one, by convolving privacy losses.

The profile of a step is made a little larger: linear in ``exp(epsilon)`` between the points of a
grid. Such a profile belongs to a privacy loss with values on the grid, and losses of steps add up.
Source of the discretisation: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the dots:
tighter discrete approximations of privacy loss distributions, 2022.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import fft
from scipy.signal import lfilter
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence.privacy_profile import StepProfile

_CURVE_POINTS = 6_000
_COARSE, _FINEST, _MOST = 2**12, 2**16, 2**21
# Share of delta that is spent on losses beyond the grids, and on rounding.
_SHARE = 1e-3
_ROUNDING = 1e-15
# Steps of the coarse grid are then below what exp can do.
_LARGEST_REACH = 2000.0


@final
@dataclass(frozen=True, eq=False)
class _Loss:
    """Privacy loss of one step: ``chances`` at ``step * (-n, ..., n)``, and of an infinite loss."""

    step: float
    chances: Floats = field(repr=False)
    infinite: float

    @property
    def values(self) -> Floats:
        size = self.chances.size // 2
        return np.asarray(self.step * np.arange(-size, size + 1))

    def log_moment(self, order: float) -> float:
        """Return the logarithm of the mean of ``exp(order * loss)``, where it is finite."""
        return float(logsumexp(order * self.values, b=self.chances))


@np.errstate(under="ignore")  # whatever the caller's program makes of it
def composed_epsilon(profile: StepProfile, n_steps: int, delta: float) -> float:
    """Return the epsilon for which so many steps are (epsilon, delta)-indistinguishable.

    Parameters
    ----------
    profile : StepProfile
    n_steps : int
    delta : float
        Between 0 and 1.

    Returns
    -------
    float
        In nats, from above; infinite where delta is too small for double precision, or the losses
        are too large for a grid.
    """
    if n_steps * _ROUNDING > _SHARE * delta or profile.reach > _LARGEST_REACH:
        return math.inf
    curve = _curve(profile, _SHARE * delta / n_steps)
    coarse = _discrete(curve, float(curve[0][-1]) / _COARSE)
    low, high = _window(coarse, n_steps, _SHARE * delta)
    spread = math.sqrt(float(coarse.chances @ coarse.values**2))
    # Twenty points a standard deviation of the step, as far as memory goes.
    step = min(max((high - low) / _MOST, min(spread / 20, (high - low) / _FINEST)), coarse.step)
    loss = _discrete(curve, step)
    low, high = _window(loss, n_steps, _SHARE * delta)
    if not (high - low) / loss.step < 2 * _MOST:
        return math.inf
    lost = n_steps * loss.infinite + (2 * _SHARE + n_steps * _ROUNDING / delta) * delta
    return _epsilon(*_convolved(loss, n_steps, low, high), delta - lost)


def _curve(profile: StepProfile, negligible: float) -> tuple[Floats, Floats]:
    """Return the levels from 0 to where delta is negligible (above 1e-20), and the deltas."""
    # Beyond this threshold no event of the shifted Gaussians has more than F(-10).
    high = profile.start + profile.reach + 10.0
    thresholds = np.linspace(profile.start, high, _CURVE_POINTS)[1:]
    points = profile.at(thresholds)
    first = profile.at(np.array([profile.start * (1 + 1e-9) + 1e-9]))
    kept = np.flatnonzero(points.log_delta <= math.log(negligible))
    end = int(kept[0]) + 1
    levels = np.concatenate([[0.0], points.epsilon[:end]])
    # Delta falls in the level: the one just above 0, enlarged by what it may have fallen.
    at_zero = math.exp(float(first.log_delta[0])) + math.expm1(float(first.epsilon[0]))
    return levels, np.concatenate([[at_zero], np.exp(points.log_delta[:end])])


def _discrete(curve: tuple[Floats, Floats], step: float) -> _Loss:
    levels, deltas = curve
    grid = step * np.arange(math.ceil(levels[-1] / step) + 1)
    # Chords in exp(level) lie above a convex curve.
    places = np.clip(np.searchsorted(levels, grid, side="right") - 1, 0, levels.size - 2)
    left, right = levels[places], levels[places + 1]
    width = np.expm1(np.maximum(right - left, 1e-300))
    shares = np.clip(np.expm1(grid - left) / width, 0.0, 1.0)
    values = deltas[places] * (1 - shares) + deltas[places + 1] * shares
    values = np.minimum.accumulate(values)
    falls = values[:-1] - values[1:]
    above = falls / -math.expm1(-step)
    below = np.append(falls[1:], 0.0) / math.expm1(step)
    positive = np.maximum(above - below, 0.0)
    negative = positive * np.exp(-grid[1:])
    infinite = float(values[-1])
    centre = max(1.0 - float(positive.sum() + negative.sum()) - infinite, 0.0)
    return _Loss(step, np.concatenate([negative[::-1], [centre], positive]), infinite)


def _window(loss: _Loss, n_steps: int, negligible: float) -> tuple[float, float]:
    """Return the interval of the sum of the losses, but for a negligible chance on either side."""
    orders, log_chance = [2.0**power for power in range(-16, 13)], math.log(negligible)

    def end(sign: int) -> float:
        return sign * min((n_steps * loss.log_moment(sign * a) - log_chance) / a for a in orders)

    return end(-1), max(end(1), loss.step)


def _convolved(loss: _Loss, n_steps: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the values of the sum of the losses, and their probabilities from above."""
    size = fft.next_fast_len(math.ceil((high - low) / loss.step) + 2, real=True)
    first = math.floor(low / loss.step)
    half = loss.chances.size // 2
    # What falls out of the window comes in again at its other end, where it does no harm: above
    # the window it is negligible, and below it loses too little to matter but is counted.
    wrapped = np.bincount(np.arange(-half, half + 1) % size, loss.chances, minlength=size)
    powers = fft.irfft(fft.rfft(wrapped) ** n_steps, size)
    places = np.arange(first, first + size)
    return loss.step * places, np.maximum(powers[places % size], 0.0)


def _epsilon(values: Floats, chances: Floats, delta: float) -> float:
    """Return the least level at which the delta of these losses is small enough."""
    if not delta > 0:
        return math.inf
    kept = values > 0
    values, chances = values[kept], chances[kept]
    above = np.cumsum(chances[::-1])[::-1]
    # Sums of chances[j] exp(values[i] - values[j]) over j >= i.
    fading = lfilter([1.0], [1.0, -math.exp(values[0] - values[1])], chances[::-1])[::-1]
    # At level 0, and at every value.
    levels = np.append(0.0, values)
    at_zero = float(chances @ -np.expm1(-values))
    deltas = np.append(at_zero, np.maximum(above - fading, 0.0))
    # At the largest value it is 0.
    end = int(np.flatnonzero(deltas <= delta)[0])
    if end == 0:
        return 0.0
    left, right = deltas[end - 1], deltas[end]
    share = (left - delta) / (left - right)
    rise = math.expm1(levels[end] - levels[end - 1])
    return float(levels[end - 1] + math.log1p(share * rise))
