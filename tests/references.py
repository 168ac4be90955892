"""Loops compiled, and by their numpy references, in a process that has numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from pacsklearn.kernel.bounds.compiled import Loop


def by_loops(work: Callable[[], Any]) -> Any:
    """What some work gives where every loop is compiled at its first call."""
    with mock.patch.object(Loop, "__call__", lambda loop, *arguments: loop.running(*arguments)):
        return work()


def by_reference(work: Callable[[], Any]) -> Any:
    """What some work gives where no loop is compiled."""
    with mock.patch.object(Loop, "__call__", lambda loop, *arguments: loop.reference(*arguments)):
        return work()
