"""How often each caller may ask."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Hashable
from itertools import takewhile
from typing import Final, final

from pacsklearn_service.server.problem import Problem

_SECONDS: Final = 60.0


@final
class RateLimit:
    """Requests of each caller in a minute, which begins with the first of them.

    Parameters
    ----------
    per_minute : int

    Notes
    -----
    In the memory of one process, as the counts of the library ``limits`` are, which starts a thread
    for each request to forget what is over.
    """

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        # When each caller's minute ends, and its requests; what ends first stands first.
        self._minutes: dict[Hashable, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def take(self, caller: Hashable, cost: int = 1) -> None:
        """Count one request, or see whether one is allowed where ``cost`` is 0.

        Raises
        ------
        Problem
            With the seconds after which the next one is allowed.
        """
        now = time.monotonic()
        with self._lock:
            over = takewhile(lambda each: each[1][0] <= now, self._minutes.items())
            for known, _ in list(over):
                del self._minutes[known]
            end, count = self._minutes.get(caller, (now + _SECONDS, 0))
            if count >= self._most:
                raise Problem(
                    "too-many-requests",
                    f"At most {self._most} requests a minute are allowed.",
                    retry_after=math.ceil(end - now),
                )
            if cost:
                self._minutes[caller] = end, count + cost
