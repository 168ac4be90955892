"""Worlds that a simulator draws when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from pacsklearn.core.scenario import World

__all__ = ["SimulatedWorld"]


@final
class SimulatedWorld(World):
    """One simulated table, drawn anew from its seed each time: tables are never all in memory.

    Parameters
    ----------
    sample : callable
        ``sample(secret, prior, rng)`` returning ``(X, y)``.
    secret, prior : object
    seed : tuple of int
    """

    def __init__(
        self, sample: Callable[..., Any], secret: Any, prior: Any, seed: tuple[int, ...]
    ) -> None:
        self._sample, self._secret, self._prior, self._seed = sample, secret, prior, seed

    @property
    def rows(self) -> None:
        return None

    def drawn(self) -> Any:
        """What the simulator returns."""
        return self._sample(self._secret, self._prior, np.random.default_rng(list(self._seed)))

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        rows, target = self.drawn()
        return rows, target

    def __repr__(self) -> str:
        return "SimulatedWorld(...)"
