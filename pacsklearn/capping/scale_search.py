"""The least noise, along one shape, at which something that falls with it is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

_MOST_LOOKS = 60
_LONGEST_STEP = 3.0
_FARTHEST = 70.0


def least_log_factor(
    log_ratio: Callable[[float], float],
    *,
    slope: float,
    tolerance: float = 1e-3,
    farthest: float = _FARTHEST,
) -> float:
    """Return least logarithm of a factor on the noise power at which ``log_ratio`` is not positive.

    Parameters
    ----------
    log_ratio : callable
        ``ln(value / cap)`` for the logarithm of a factor; falls, up to what simulation blurs.
    slope : float
        How fast it falls as a first guess: 1 for a mutual information, 1/2 for a success.
    tolerance : float, default=1e-3
        Of ``log_ratio`` below zero, or of the factor where it jumps.
    farthest : float, default=70.0
        No factor beyond is looked at, enough for spreads of 1e12.

    Returns
    -------
    float
        Between -70 and ``farthest``; ``farthest`` when nothing was small enough.

    Notes
    -----
    Steps of the guessed slope, doubled until zero is enclosed (a candidate that is far away leaves
    a plateau as long as its distance), then false position with the Illinois rule.

    Examples
    --------
    >>> from pacsklearn.capping.scale_search import least_log_factor
    >>> round(least_log_factor(lambda factor: 2 - factor, slope=1), 2)
    2.0
    """
    low = high = math.nan
    over = under = 0.0
    at, growth, side = 0.0, 1.0, 0
    for _ in range(_MOST_LOOKS):
        ratio = log_ratio(at)
        if -tolerance <= ratio <= 0:
            return at
        if ratio > 0:
            low, over = at, ratio
            # Illinois: an end that stays twice counts half, or false position would crawl.
            if side > 0:
                under /= 2
            side = 1
        else:
            high, under = at, ratio
            if side < 0:
                over /= 2
            side = -1
        if math.isnan(low) or math.isnan(high):
            step = min(max(ratio / slope, -_LONGEST_STEP), _LONGEST_STEP)
            step = math.copysign(max(abs(step), 0.02), step) * growth
            growth *= 2
            if not -_FARTHEST < at < farthest:
                break
            at = min(max(at + step, -_FARTHEST), farthest)
            continue
        if high - low < tolerance:
            break
        at = low + (high - low) * min(max(over / (over - under), 0.05), 0.95)
    # The upper end: there the value was seen at or below the cap.
    return farthest if math.isnan(high) else high
