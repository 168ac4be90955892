"""Naming the secret candidate."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.tally import tally_names


@final
class IdentificationAttack(Attack):
    """Names the candidate that is likeliest after everything seen.

    The best possible attack on the whole secret, for any game with an exact posterior. Where the
    candidates are the values of a sensitive attribute it is the best attack on that attribute.

    Notes
    -----
    Naming the posterior's maximum is Bayes' rule for the criterion "the named candidate is the
    secret"; there is nothing to choose, so every round counts.

    Examples
    --------
    >>> from pacsklearn.audit.identification_attack import IdentificationAttack
    >>> from pacsklearn.testing import example_games
    >>> result = IdentificationAttack().run(example_games().sound, n_trials=200, seed=0)
    >>> result.prior, result.violates()
    (0.0625, False)
    """

    name = "identification"
    description = "the best possible attack on the whole secret"
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="the whole secret",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="Bayes' rule",
        cost="one posterior a round",
    )

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        criterion = "naming the secret" if game.members is None else "naming the subset"

        def named(played: Round) -> int:
            return int(np.argmax(played.posterior))

        return tally_names(self.name, criterion, game, n_trials, seed, named)
