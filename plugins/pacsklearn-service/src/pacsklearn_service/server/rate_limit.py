"""How often each caller may ask."""

from __future__ import annotations

import threading
import time
from math import inf
from typing import Final, final

from pacsklearn_service.server.problem import Problem

_MINUTE: Final = 60.0


@final
class RateLimit:
    """Requests of each caller in a minute, which begins with the first of them.

    Minutes are those of a clock that is never set: one that is set back would make hours of them.

    Parameters
    ----------
    per_minute : int
    """

    def __init__(self, per_minute: int) -> None:
        self._most, self._lock = per_minute, threading.Lock()
        # How many were counted of whom, and when that minute ends.
        self._counts: dict[str, tuple[int, float]] = {}
        self._sweep = -inf

    def take(self, caller: str, cost: int = 1) -> None:
        """Count one request, or see whether one is allowed where ``cost`` is 0.

        Raises
        ------
        Problem
            With the seconds after which the next one is allowed.
        """
        now = time.monotonic()
        with self._lock:
            if now >= self._sweep:  # who asks no more is not remembered
                self._counts = {n: each for n, each in self._counts.items() if now < each[1]}
                self._sweep = now + _MINUTE
            count, end = self._counts.get(caller, (0, -inf))
            count, end = (count, end) if now < end else (0, now + _MINUTE)
            if count < self._most:
                if cost:
                    self._counts[caller] = count + cost, end
                return
        raise Problem(
            "too-many-requests",
            f"At most {self._most} requests a minute are allowed.",
            retry_after=int(end - now) + 1,
        )
