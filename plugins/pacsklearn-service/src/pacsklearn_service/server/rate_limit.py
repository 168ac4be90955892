"""How often each caller may ask."""

from __future__ import annotations

import time
from typing import Final, final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from pacsklearn_service.server.problem import Problem

_SET: Final = 1.0
"""Seconds by which no clock runs ahead of another within a minute, unless it is set."""


@final
class RateLimit:
    """Requests of each caller in a minute, which begins with the first of them.

    Parameters
    ----------
    per_minute : int
    """

    def __init__(self, per_minute: int) -> None:
        self._most = RateLimitItemPerMinute(per_minute)
        self._begin()

    def take(self, caller: str, cost: int = 1) -> None:
        """Count one request, or see whether one is allowed where ``cost`` is 0.

        Raises
        ------
        Problem
            With the seconds after which the next one is allowed.
        """
        if abs(_clock_ahead() - self._ahead) > _SET:
            self._begin()
        if not (self._windows.hit if cost else self._windows.test)(self._most, caller):
            end = self._windows.get_window_stats(self._most, caller).reset_time
            raise Problem(
                "too-many-requests",
                f"At most {self._most.amount} requests a minute are allowed.",
                retry_after=max(int(end - time.time()), 0) + 1,
            )

    def _begin(self) -> None:
        # Minutes end by the machine's clock: set back, it would make hours of them.
        self._windows, self._ahead = FixedWindowRateLimiter(MemoryStorage()), _clock_ahead()


def _clock_ahead() -> float:
    """Return what the machine's clock says beyond one that is never set."""
    return time.time() - time.monotonic()
