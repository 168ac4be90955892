"""Naming many of the rows that were used, at once."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.tally import tally

_RARE = 0.05


@final
class ReconstructionAttack(Attack):
    """Names a whole candidate subset, and is right when enough of its units were used.

    A weaker aim than naming the secret itself, and a harder one than telling one unit: the named
    units are the reconstruction.

    Parameters
    ----------
    k : int, optional
        Units of the guess that must be in the secret subset. When not given, as many as only one
        pair of candidates in twenty has in common.

    Notes
    -----
    The guess is the candidate that shares ``k`` units with the secret with the largest posterior
    probability, which is Bayes' rule for guesses that are candidates; nothing is chosen by looking
    at rounds. Source of the aim: pac-private-algorithms, section 8.2.
    """

    name = "reconstruction"
    description = "a whole subset with many of its rows right"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="a subset with many rows right",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="pac-private-algorithms, section 8.2",
        cost="one posterior a round",
    )

    def __init__(self, k: int | None = None) -> None:
        self.k = k

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        assert game.members is not None
        members = game.members.astype(np.float64)
        common = members @ members.T
        # The smallest subset: no guess can have more units right than it holds.
        size = int(members.sum(axis=1).min())
        if self.k is None:
            pairs = common[~np.eye(len(common), dtype=bool)]
            k = min(int(np.quantile(pairs, 1 - _RARE)) + 1, size)
        else:
            k = check_integer(name="k", value=self.k, minimum=1)
            if k > size:
                raise ValueError(f"k must be at most the {size} units of a subset, got {k}.")
        gains = (common >= k).astype(np.float64)

        def right(played: Round) -> bool:
            guess = int(np.argmax(gains @ played.posterior))
            return bool(gains[guess, list(played.used)].any())

        return tally(
            self.name,
            f"naming a subset with {k} units right",
            game,
            n_trials,
            np.random.default_rng(seed),
            blind=min(float((gains @ game.prior).max()), 1.0),
            right=right,
        )
