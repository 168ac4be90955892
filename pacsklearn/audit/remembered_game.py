"""A game that is played once for all attacks."""

from __future__ import annotations

import pickle
from typing import Any, final

import numpy as np

from pacsklearn.audit.game import Game, Round, WrappedGame


@final
class RememberedGame(WrappedGame):
    """A game that plays the same round again for a generator in the same state, from memory.

    Attacks that begin with the same seed are then counted on the same rounds, which are played
    once. Their intervals hold together by a union bound, for which rounds need not be independent.

    Parameters
    ----------
    game : Game
        Its rounds are a function of the generator's state alone.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._rounds: dict[bytes, tuple[Round, Any]] = {}

    def play(self, generator: np.random.Generator) -> Round:
        state = pickle.dumps(generator.bit_generator.state)
        if state not in self._rounds:
            played = self._game.play(generator)
            self._rounds[state] = played, generator.bit_generator.state
        played, generator.bit_generator.state = self._rounds[state]
        return played
