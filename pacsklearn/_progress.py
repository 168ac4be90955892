"""A bar on a terminal for what takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_PATIENCE: Final = 2.0
_WIDTH: Final = 32


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Draw on standard error, where that is a terminal, how much of some work is done.

    Parameters
    ----------
    what : str
        What is counted.
    total : int
        How much there is.

    Yields
    ------
    callable
        To be told how much is done.
    """
    # As it is now: work on private rows has streams replaced while it runs.
    stream, begun, shown = sys.stderr, time.monotonic(), -1
    is_open = hasattr(stream, "isatty") and not getattr(stream, "closed", False)

    def at(done: int) -> None:
        nonlocal shown
        share = 100 * done // total
        if share != shown and is_open and stream.isatty() and time.monotonic() - begun > _PATIENCE:
            shown = share
            filled = "#" * (_WIDTH * done // total)
            stream.write(f"\r{what} [{filled:<{_WIDTH}}] {done} of {total}")
            stream.flush()

    try:
        yield at
    finally:
        if shown >= 0:
            stream.write("\n")
