"""Guessing the secret from a release, knowing how likely each is beforehand."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, final

import numpy as np

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.tally import tally_names


@final
class MapAttack(Attack):
    """Prior-aware maximum a posteriori attack on a secret about the data.

    On a sliced release it is the Gaussian attack of the paper: a secret stands for the mean of its
    outputs, and the guess maximises prior times density of the noise. On any other game, and where
    there is no noise, the guess maximises the exact posterior.

    Notes
    -----
    Where a secret stands for one data set the two are the same, up to rounding, and no attack does
    better. Otherwise compare with the ``"identification"`` attack, which knows every data set.
    Source: srpp, appendix W.1.

    Examples
    --------
    >>> from pacsklearn.audit.map_attack import MapAttack
    >>> from pacsklearn.testing import example_games
    >>> MapAttack().run(example_games().sound, n_trials=200, seed=0).violates()
    False
    """

    name = "map"
    description = "the likeliest secret about the data, by the prior and the mean outputs"
    needs = ("secrets",)
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="a secret about the data",
        knowledge="mean output under each secret, the prior, the law of the noise",
        power="looks at the release",
        reference="srpp, appendix W.1",
        cost="one distance to each secret a round",
    )

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        named = partial(_guess, game)
        return tally_names(self.name, "naming the secret", game, n_trials, seed, named)


def _guess(game: Game, played: Round) -> int:
    means = getattr(game, "means", None)
    if means is None:
        return int(np.argmax(played.posterior))
    # A secret of prior zero is never guessed: its logarithm is minus infinity.
    with np.errstate(divide="ignore"):
        distances = np.sum((played.released.vector - means) ** 2, axis=1)
        scores = np.log(game.prior) - distances / 2
    return int(np.argmax(scores))
