"""How often each caller may ask."""

from __future__ import annotations

import threading
import time
from math import inf
from typing import ClassVar, final

from limits import RateLimitItemPerMinute
from limits.storage import Storage
from limits.strategies import FixedWindowRateLimiter

from pacsklearn_service.server.problem import Problem


@final
class RateLimit:
    """Requests of each caller in a minute, which begins with the first of them.

    Parameters
    ----------
    per_minute : int
    what : str
        What is counted, for the refusal.
    """

    def __init__(self, per_minute: int, what: str = "requests") -> None:
        self._what = what
        self._most = RateLimitItemPerMinute(per_minute)
        self._windows = FixedWindowRateLimiter(_Windows())

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
                f"At most {self._most.amount} {self._what} a minute are allowed.",
                retry_after=max(int(end - time.monotonic()), 0) + 1,
            )


@final
class _Windows(Storage):
    """What was counted in windows that have not ended, by a clock that is never set.

    The library's own storage in memory asks the machine's clock, which makes hours of minutes where
    it is set back, and begins a thread every few milliseconds.
    """

    STORAGE_SCHEME = None
    base_exceptions: ClassVar[type[Exception]] = ValueError

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._open: dict[str, tuple[int, float]] = {}
        self._sweep = -inf

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        now = time.monotonic()
        with self._lock:
            if now >= self._sweep:
                self._open = {name: each for name, each in self._open.items() if now < each[1]}
                self._sweep = now + expiry
            count, end = self._open.get(key, (0, now))
            count, end = (count + amount, end) if now < end else (amount, now + expiry)
            self._open[key] = count, end
        return count

    def get(self, key: str) -> int:
        count, end = self._open.get(key, (0, -inf))
        return count if time.monotonic() < end else 0

    def get_expiry(self, key: str) -> float:
        return self._open.get(key, (0, time.monotonic()))[1]

    def check(self) -> bool:
        return True

    def reset(self) -> None:
        self._open.clear()

    def clear(self, key: str) -> None:
        self._open.pop(key, None)
