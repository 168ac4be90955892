"""What follows a draw, tried on public numbers before the ledger is charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.noise.sampler import SeededSampler

_SEED = 0


def public_integers(law: Any) -> Integers:
    """Noise alone, by a public seed: integers that a release under the law could be."""
    return SeededSampler(np.random.default_rng(_SEED)).noise(law.dimension)


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


def rehearse(value: Any, guarantee: Callable[[], Any]) -> None:
    """Show a decoded model to the block's check, if there is one; a value is no model."""
    check = _CHECK.get()
    if check is not None and hasattr(value, "get_params"):
        check(mark_released(value, guarantee()))


_CHECK: ContextVar[Callable[[Any], object] | None] = ContextVar("rehearsal", default=None)
