"""Was a row in the universe at all: the attack."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.score_rule import best_rule
from pacsklearn.audit.tally import tally


@final
class ExistenceAttack(Attack):
    """Tells two worlds apart by every number that is published.

    A linear score is learnt from half of the rounds played beforehand, with a small ridge, and a
    threshold from the other half.

    Parameters
    ----------
    n_pilot : int, default=100
        Rounds played beforehand.
    """

    name = "existence"
    description = "whether a row was in the universe at all"
    needs = ("secrets", "published")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="whether a row was in the universe at all",
        knowledge="all other rows of the universe",
        power="looks at everything that is published",
        reference="add-or-remove neighbours of differential privacy, played on the universe",
        cost="100 releases beforehand and one regression",
    )

    def __init__(self, n_pilot: int = 100) -> None:
        self.n_pilot = n_pilot

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        pilot = check_integer(name="n_pilot", value=self.n_pilot, minimum=8)
        self.check_plays(game)
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        rounds = [game.play(rehearsal) for _ in range(pilot)]
        seen = np.stack([game.published(played.released) for played in rounds])
        with_row = np.array([played.secret == 0 for played in rounds])
        half = pilot // 2
        model = make_pipeline(StandardScaler(), Ridge(0.1 * half)).fit(seen[:half], with_row[:half])
        rule = best_rule(model.predict(seen[half:]), with_row[half:], 0.5)

        def right(played: Round) -> bool:
            (score,) = model.predict(game.published(played.released)[None])
            return bool(rule.says_member(score)) == (played.secret == 0)

        return tally(
            self.name,
            "whether a row was in the universe",
            game,
            n_trials,
            trials,
            blind=float(np.max(game.prior)),
            right=right,
            details=(("rule", rule.words),),
        )
