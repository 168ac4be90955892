"""Rounds counted until there are enough of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import AttackResult, share_interval
from pacsklearn.audit.game import Game, Round

_EVERY = 16
"""Rounds between two looks at whether counting may stop."""


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
        Where it has a ``stopping_level``, counting ends when the interval of that level, which
        holds whenever it is looked at, lies on one side of the bound.
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
    level: float | None = getattr(game, "stopping_level", None)
    bound = game.bound(blind)
    successes = played = 0
    for played in range(1, count + 1):
        successes += bool(right(game.play(generator)))
        if level is not None and bound is not None and played % _EVERY == 0:
            low, high = share_interval(successes, played, level, sequential=True)
            if not low <= bound <= high:
                break
    return AttackResult(
        attack, criterion, played, successes, blind, bound, details, level is not None
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
