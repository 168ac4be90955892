"""Lower-confidence estimate of the gap by the Donsker-Varadhan representation."""

from __future__ import annotations

from itertools import product

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.trials.mean_bound import upper_mean_bound
from pacsklearn_papers.gaussianity_gap import GapCorrection, SurrogateGap

_SLOPES = (0.25, 0.5, 0.75, 1.0)
# Shares of the training draws that the clipping leaves untouched on each side.
_KEPT = (0.9, 0.99, 0.999, 1.0)
_METHOD = "donsker_varadhan", "residual-pac, Definition 8 and Theorem 3"


def donsker_varadhan(
    gap: SurrogateGap, *, n_draws: int = 20_000, gamma: float = 1e-6, seed: int = 0
) -> GapCorrection:
    """Bound the gap from below, with confidence ``1 - gamma``.

    Parameters
    ----------
    gap : SurrogateGap
    n_draws : int, default=20000
        Draws in each of the four independent splits.
    gamma : float, default=1e-6
        Probability, over the validation splits, that the value lies above the gap.
    seed : int, default=0
        Public seed of the draws.

    Returns
    -------
    GapCorrection
        Zero where the points are so far apart that doubles do not hold the Gaussian
        (:attr:`SurrogateGap.is_resolved`).

    Notes
    -----
    ``E_P f - ln E_Q e^f`` is at most ``KL(P || Q)`` for every ``f``. The critic is the log-ratio of
    the mixture and its Gaussian times a slope, clipped to a range; slope and range are chosen on
    the two training splits, and the largest value is subtracted, which changes neither side. On
    the two validation splits the clipped critic is bounded, so both means get one-sided bounds at
    ``gamma / 2`` each, without a uniform bound over the family.
    Source: residual-pac, Definition 8 and Theorem 3.

    Examples
    --------
    >>> from pacsklearn_papers import donsker_varadhan
    >>> from pacsklearn_papers import SurrogateGap
    >>> gap = SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [0.05])
    >>> 0.5 < donsker_varadhan(gap).value < gap.logdet
    True
    """
    n_draws = check_integer(name="n_draws", value=n_draws, minimum=10)
    if not gap.is_resolved:
        return GapCorrection(0.0, 0.0, 1.0 - gamma, *_METHOD)
    streams = [np.random.default_rng([seed, split]) for split in range(4)]
    train_p = gap.log_ratio(gap.draw(streams[0], n_draws))
    train_q = gap.log_ratio(gap.draw_gaussian(streams[1], n_draws))
    slope, low, high = _train(train_p, train_q, gamma)
    if not low < high:
        return GapCorrection(0.0, 0.0, 1.0 - gamma, *_METHOD)
    on_p = np.clip(slope * gap.log_ratio(gap.draw(streams[2], n_draws)), low, high) - high
    on_q = np.clip(slope * gap.log_ratio(gap.draw_gaussian(streams[3], n_draws)), low, high) - high
    tilted, least = np.exp(on_q), float(np.exp(low - high))
    mean = -upper_mean_bound(-on_p, 0.0, high - low, gamma / 2)
    total = upper_mean_bound(np.clip(tilted, least, 1.0), least, 1.0, gamma / 2)
    estimate = float(np.mean(on_p) - np.log(np.mean(tilted)))
    value = max(mean - float(np.log(total)), 0.0)
    return GapCorrection(value, estimate, 1.0 - gamma, *_METHOD)


def _train(on_p: Floats, on_q: Floats, gamma: float) -> tuple[float, float, float]:
    """Return the slope and range of the critic whose lower bound is best on the training draws."""
    best, chosen = 0.0, (0.0, 0.0, 0.0)
    for slope, kept_low, kept_high in product(_SLOPES, _KEPT, _KEPT):
        low = slope * float(np.quantile(on_p, 1.0 - kept_low))
        high = slope * float(np.quantile(on_p, kept_high))
        least = float(np.exp(low - high))
        # Where the range is that narrow the exponentials are one number.
        if not least < 1.0:
            continue
        # A constant off the critic changes nothing; with this one no exponential is above 1.
        f = np.clip(slope * on_p, low, high) - high
        tilted = np.clip(np.exp(np.clip(slope * on_q, low, high) - high), least, 1.0)
        mean = -_bound(-f, 0.0, high - low, gamma)
        value = mean - np.log(_bound(tilted, least, 1.0, gamma))
        if value > best:
            best, chosen = float(value), (slope, low, high)
    return chosen


def _bound(draws: Floats, low: float, high: float, gamma: float) -> float:
    sums = [float(np.sum(draws))], [float(draws @ draws)]
    return float(upper_mean_bounds(*sums, draws.size, low, high, gamma / 2)[0])
