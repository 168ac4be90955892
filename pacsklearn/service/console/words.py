"""Figures as people say them."""

from __future__ import annotations

import time

__all__ = ["moment", "nats", "share_in_words"]

_SHARES = (
    (0.05, "Very little"),
    (0.18, "About a tenth"),
    (0.29, "About a quarter"),
    (0.41, "About a third"),
    (0.59, "About half"),
    (0.70, "About two thirds"),
    (0.84, "About three quarters"),
    (0.95, "Most"),
    (1.0, "Nearly all"),
)


def share_in_words(remaining: float, ceiling: float) -> str:
    """Sentence about what is left of a ceiling."""
    share = remaining / ceiling
    if share <= 0:
        return "Nothing is left."
    if share >= 1:
        return "All of it is left."
    return f"{next(words for below, words in _SHARES if share < below)} of it is left."


def nats(amount: float) -> str:
    """Figure with four digits; small ones are not rounded to nothing."""
    return f"{amount:,.4g}" if abs(amount) < 10_000 else f"{amount:,.0f}"


def moment(seconds: float) -> str:
    """Time of the clock, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
