"""True against false alarms of an attack that judges one unit's membership."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.audit.game import Game, Round, WrappedGame
from pacsklearn.kernel.bounds.arrays import Floats

_MOST_POINTS = 201


@final
@dataclass(frozen=True)
class AttackROC:
    """Receiver operating characteristic of an attack's score.

    Parameters
    ----------
    attack : str
    false_positive_rate, true_positive_rate : tuple of float
        At falling thresholds, from (0, 0) to (1, 1).
    """

    attack: str
    false_positive_rate: tuple[float, ...]
    true_positive_rate: tuple[float, ...]

    @classmethod
    def of(cls, attack: str, scores: ArrayLike, truth: ArrayLike) -> AttackROC:
        """Return the curve of scores, larger for members, and of what is true."""
        scored, true = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
        order = np.argsort(-scored, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(scored[order])), len(scored) - 1)
        hits = np.append(0, np.cumsum(true[order])[ends]) / max(int(true.sum()), 1)
        alarms = np.append(0, np.cumsum(~true[order])[ends]) / max(int((~true).sum()), 1)
        if len(hits) > _MOST_POINTS:
            kept = np.unique(np.linspace(0, len(hits) - 1, _MOST_POINTS).round().astype(int))
            hits, alarms = hits[kept], alarms[kept]
        return cls(attack, tuple(alarms.tolist()), tuple(hits.tolist()))


@final
class RecordingGame(WrappedGame):
    """A game that remembers the rounds that were played, for the curve afterwards.

    Parameters
    ----------
    game : Game
    stopping_level : float, optional
        Of the interval by which an attack may stop counting.
    """

    def __init__(
        self,
        game: Game,
        stopping_level: float | None = None,
        at: Callable[[int], None] = lambda _: None,
    ) -> None:
        super().__init__(game)
        self.stopping_level, self._at = stopping_level, at
        self.rounds: list[Round] = []

    def play(self, generator: np.random.Generator) -> Round:
        played = self._game.play(generator)
        self.rounds.append(played)
        self._at(len(self.rounds))
        return played


def score_rounds(attack: Any, game: RecordingGame, unit: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Score and truth of every round remembered, by the attack's own score or by the posterior."""
    assert game.members is not None
    own = game.members[:, unit]
    truth = [bool(played.holds(own)) for played in game.rounds]
    scores = [attack.membership_score(game, played, unit) for played in game.rounds]
    return np.array(scores), np.array(truth, dtype=bool)
