"""Models that are about to be released, tried before they are charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


@contextmanager
def rehearsed(check: Callable[[Any], object]) -> Iterator[None]:
    """Have models that are about to be released in this block tried before they are charged.

    Parameters
    ----------
    check : callable
        Called with a model of public numbers, marked as the release will be; what it raises ends
        the release, and nothing is charged.
    """
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def rehearse(value: Any, marked: Callable[[], Any]) -> None:
    """Show a decoded model, marked, to the block's check, if there is one; a value is no model."""
    check = _CHECK.get()
    if check is not None and hasattr(value, "get_params"):
        check(marked())


_CHECK: ContextVar[Callable[[Any], object] | None] = ContextVar("rehearsal", default=None)
