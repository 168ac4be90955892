"""Work that several estimators of one table share: encodings, and sums of products."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")


class _Made(NamedTuple):
    objects: tuple[Any, ...]
    facts: Any
    value: Any


_MADE: ContextVar[dict[str, _Made] | None] = ContextVar("_MADE", default=None)


@contextmanager
def shared_work() -> Iterator[None]:
    """Share work inside the block: what is made of the same objects is made once.

    Of each kind the last is kept.

    For options that are fitted one after the other on the same candidates. Secret material, which
    ends with the block.
    """
    token = _MADE.set({})
    try:
        yield
    finally:
        _MADE.reset(token)


def made_once(kind: str, objects: tuple[Any, ...], facts: Any, make: Callable[[], Value]) -> Value:
    """Return what ``make`` gives, or gave for the same objects and equal facts.

    Parameters
    ----------
    kind : str
    objects : tuple
        The very same ones: they are kept, so that no other takes their place.
    facts : object
        Whatever else the value depends on, compared as equal.
    make : callable
        A function of these alone; nobody may change what it gives.
    """
    made = _MADE.get()
    if made is None:
        return make()
    last = made.get(kind)
    if last is not None and last.facts == facts and _are_same(last.objects, objects):
        known: Value = last.value
        return known
    value = make()
    made[kind] = _Made(objects, facts, value)
    return value


def _are_same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))
