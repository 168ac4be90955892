"""How often each caller may ask."""

from __future__ import annotations

import time
from typing import final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from pacsklearn_service.server.problem import Problem


@final
class RateLimit:
    """Requests of each caller in a minute, which begins with the first of them.

    Parameters
    ----------
    per_minute : int
    """

    def __init__(self, per_minute: int) -> None:
        self._most = RateLimitItemPerMinute(per_minute)
        self._windows = FixedWindowRateLimiter(MemoryStorage())

    def take(self, caller: str, cost: int = 1) -> None:
        """Count one request, or see whether one is allowed where ``cost`` is 0.

        Raises
        ------
        Problem
            With the seconds after which the next one is allowed.
        """
        if not (self._windows.hit if cost else self._windows.test)(self._most, caller):
            end = self._windows.get_window_stats(self._most, caller).reset_time
            raise Problem(
                "too-many-requests",
                f"At most {self._most.amount} requests a minute are allowed.",
                retry_after=max(int(end - time.time()), 0) + 1,
            )
