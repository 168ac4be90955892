"""Units whose membership is a secret, and the one that an attack is told to try."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.game import Game


def secret_units(game: Game, members: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether some possible candidates hold a unit and others do not; shape (n_units,)."""
    likely = members[game.prior > 0]
    return np.asarray(likely.any(axis=0) & ~likely.all(axis=0))


def units_to_attack(unit: Any, game: Game, members: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the unit that the attack, or else the game, names.

    All whose membership is a secret else.
    """
    hidden = secret_units(game, members)
    chosen = unit if unit is not None else getattr(game, "target", None)
    if chosen is not None:
        index = check_integer(name="unit", value=chosen, minimum=0)
        if index >= hidden.size or not hidden[index]:
            raise ValueError(
                f"unit must be one of the {int(hidden.sum())} units whose membership is a "
                f"secret, got {index}."
            )
        return np.array([index])
    if not hidden.any():
        raise ValueError("game has no unit whose membership is a secret.")
    return np.flatnonzero(hidden)
