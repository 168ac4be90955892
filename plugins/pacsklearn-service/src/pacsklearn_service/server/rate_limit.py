"""How often each caller may ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, final

from pacsklearn_service.server.problem import Problem

_MOST_KNOWN: Final = 100_000


@final
class RateLimit:
    """A bucket of tokens for each caller: a minute's worth, filled evenly.

    Parameters
    ----------
    per_minute : float
    clock : callable
        Seconds that only grow.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._lock = threading.Lock()
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str, cost: int = 1) -> None:
        """Count one request, or see whether one is allowed where ``cost`` is 0.

        Raises
        ------
        Problem
            With the seconds after which the next one is allowed.
        """
        most = self.per_minute
        with self._lock:
            now = self._clock()
            # Taken out and put back: the dictionary's first is who asked longest ago.
            left, last = self._left.pop(caller, (most, now))
            left = min(most, left + (now - last) * most / 60)
            allowed = left >= 1
            self._left[caller] = left - (cost if allowed else 0), now
            if len(self._left) > _MOST_KNOWN:
                # Who asked longest ago has the fullest bucket: forgetting it changes least.
                del self._left[next(iter(self._left))]
        if not allowed:
            wait = (1 - left) * 60 / most if most > 0 else 60.0
            raise Problem(
                "too-many-requests",
                f"At most {most:g} requests a minute are allowed.",
                retry_after=int(wait) + 1,
            )
