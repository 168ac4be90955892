"""Rounds counted until there are enough of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import AttackResult, share_interval
from pacsklearn.audit.game import Game, Round


@final
@dataclass(frozen=True)
class Stopping:
    """Stops counting when it is clear on which side of the bound an attack's success lies.

    Parameters
    ----------
    level : float
        Of the interval that has to lie on one side, whenever it is looked at.
    every : int, default=16
        Rounds between two looks.
    """

    level: float
    every: int = 16

    def enough(self, n_successes: int, n_trials: int, bound: float | None) -> bool:
        """Return whether counting may stop."""
        if bound is None or n_trials % self.every:
            return False
        low, high = share_interval(n_successes, n_trials, self.level, sequential=True)
        return low > bound or high < bound


def tally(
    attack: str,
    criterion: str,
    game: Game,
    n_trials: int,
    generator: np.random.Generator,
    *,
    blind: float,
    right: Callable[[Round], Any],
    details: tuple[tuple[str, str], ...] = (),
) -> AttackResult:
    """Play and count.

    Parameters
    ----------
    attack, criterion, details
        As for :class:`AttackResult`.
    game : Game
        Where it has an attribute ``stopping``, a :class:`Stopping`, counting may end early.
    n_trials : int
        Rounds that are played at most.
    generator : Generator
        Of the rounds that are counted; nothing was chosen by looking at them.
    blind : float
        Success of the best blind guess.
    right : callable
        ``right(played)``: whether the attack was right in a round.
    """
    count = check_integer(name="n_trials", value=n_trials, minimum=1)
    stopping: Stopping | None = getattr(game, "stopping", None)
    bound = game.bound(blind)
    successes = played = 0
    for played in range(1, count + 1):
        successes += bool(right(game.play(generator)))
        if stopping is not None and stopping.enough(successes, played, bound):
            break
    return AttackResult(
        attack, criterion, played, successes, blind, bound, details, stopping is not None
    )


def tally_names(
    attack: str,
    criterion: str,
    game: Game,
    n_trials: int,
    seed: int,
    named: Callable[[Round], int],
) -> AttackResult:
    """Play and count rounds in which ``named(played)`` is the secret that was used."""
    return tally(
        attack,
        criterion,
        game,
        n_trials,
        np.random.default_rng(seed).spawn(2)[1],  # the stream on which other attacks are counted
        blind=float(np.max(game.prior)),
        right=lambda played: named(played) in played.used,
    )
