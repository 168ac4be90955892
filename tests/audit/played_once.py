"""Rounds of the example games, each played once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from pacsklearn.audit.game import Round
from pacsklearn.testing import example_games

_PLAYED: dict[Any, tuple[Round, Any]] = {}


@contextmanager
def rounds_played_once() -> Iterator[None]:
    """A round is a function of the game and of the generator: attacks share those they play."""
    kind: Any = type(example_games().sound)
    play = kind.play

    def played(game: Any, generator: np.random.Generator) -> Round:
        key = (
            game.codes.tobytes(),
            game.space.weights.tobytes(),
            (game.budget, game.noise_factor, game.redraws, game.exact_row),
            repr(generator.bit_generator.state),
        )
        if key not in _PLAYED:
            _PLAYED[key] = play(game, generator), generator.bit_generator.state
        found, generator.bit_generator.state = _PLAYED[key]
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "play", played)
        yield
