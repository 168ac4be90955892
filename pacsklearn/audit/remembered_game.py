"""A game that is played once for all attacks."""

from __future__ import annotations

import pickle
from typing import Any, final

import numpy as np

from pacsklearn.audit.game import Game, Round
from pacsklearn.kernel.bounds.arrays import Floats

# Confidences that are kept: 128 MB.
_MOST_NUMBERS = 2**24


@final
class RememberedGame(Game):
    """A game that plays the same round again for a generator in the same state, from memory.

    Attacks that begin with the same seed are then counted on the same rounds, which are played
    once. Their intervals hold together by a union bound, for which rounds need not be independent.

    Parameters
    ----------
    game : Game
        Its rounds are a function of the generator's state alone.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.prior, self.members = game.prior, game.members
        self._rounds: dict[bytes, tuple[Round, Any]] = {}
        self._confidences: dict[int, Floats] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "_game":  # a copy under construction
            raise AttributeError(name)
        value = getattr(self._game, name)
        return self._remembering(value) if name == "confidences" else value

    def bound(self, blind: float) -> float | None:
        return self._game.bound(blind)

    def play(self, generator: np.random.Generator) -> Round:
        state = pickle.dumps(generator.bit_generator.state)
        if state not in self._rounds:
            played = self._game.play(generator)
            self._rounds[state] = played, generator.bit_generator.state
        played, generator.bit_generator.state = self._rounds[state]
        return played

    def _remembering(self, confidences: Any) -> Any:
        def remembered(released: Any) -> Floats:
            # What was released in a round lives as long as this game, and so does its identity.
            known = self._confidences.get(id(released))
            if known is None:
                known = confidences(released)
                if (len(self._confidences) + 1) * known.size <= _MOST_NUMBERS:
                    self._confidences[id(released)] = known
            return known

        return remembered
