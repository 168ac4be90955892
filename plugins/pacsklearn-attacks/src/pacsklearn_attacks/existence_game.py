"""Was a row in the universe at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from pacsklearn.audit.confidence import model_numbers
from pacsklearn.audit.game import Game, Round
from pacsklearn.kernel.bounds.arrays import Floats


@final
class ExistenceGame(Game):
    """Something is made from a table with a row, or from the table without it, and published.

    No guarantee of a candidate list speaks of this: the adversary is given the universe there.
    So nothing is promised, and the success is a figure to look at.

    Parameters
    ----------
    worlds : sequence of callables
        ``world(generator)`` makes what is published: first with the row, then without it.
    numbers : callable, optional
        ``numbers(released)``: what is published as a vector, of the same length in both worlds.
        All fitted numbers of a model when not given.
    """

    beyond = ("published",)

    def __init__(
        self,
        worlds: Sequence[Callable[[np.random.Generator], Any]],
        numbers: Callable[[Any], Floats] = model_numbers,
    ) -> None:
        if len(worlds) != 2:
            raise ValueError(
                "worlds must be two releases, one made with the row and one without it; got "
                f"{len(worlds)}."
            )
        self._worlds, self._numbers = tuple(worlds), numbers
        self.prior = np.full(2, 0.5)
        self.prior.flags.writeable = False

    def bound(self, blind: float) -> None:
        return None

    def play(self, generator: np.random.Generator) -> Round:
        secret = int(generator.integers(2))
        return Round(secret, self.prior, self._worlds[secret](generator))

    def published(self, released: Any) -> Floats:
        """Return the numbers that were published in a round."""
        return np.asarray(self._numbers(released), dtype=np.float64)
