"""Work that is given up when it takes too long."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_GRACE = 2.0
_EVERY = 0.02


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """Value of ``work()``, or None when it fails or does not end in time.

    It runs in a thread of this process. Where time is up the thread is told to end; Python code
    does, and code of compiled libraries when it comes back. Until then it is left to itself.
    """
    finished: list[T] = []

    def run() -> None:
        try:
            value = work()
        except BaseException:  # noqa: BLE001 - what failed may not show
            return
        finished.append(value)

    thread = threading.Thread(target=run, name="pacsklearn-secret", daemon=True)
    thread.start()
    thread.join(seconds)
    kept = finished[:]
    given_up = time.monotonic() + _GRACE
    while thread.is_alive() and time.monotonic() < given_up:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
        thread.join(_EVERY)
    return kept[0] if kept else None
