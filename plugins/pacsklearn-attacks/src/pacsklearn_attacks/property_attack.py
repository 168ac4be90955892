"""A property of the rows that were used, as a whole."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.tally import tally
from pacsklearn_attacks.attribute_attack import blind_class, is_class_right


@final
class PropertyAttack(Attack):
    """Tells whether the average of a column over the rows used is above its median.

    An average of few rows that a model saw: the share of women, the mean age. Which column is
    chosen on rounds that are not counted.

    Parameters
    ----------
    column : int, optional
        Column of ``game.features``; the one about which most is learnt when not given.

    Attributes
    ----------
    n_pilot : int
        Rounds played beforehand.

    Notes
    -----
    The median is over the candidates, so that guessing blindly has about one half. The verdict is
    Bayes' rule for this question. Source: Ateniese et al. (2015), Hacking smart machines with
    smarter ones.
    """

    name = "property"
    description = "a property of all rows that were used"
    needs = ("units", "features")
    threat: ClassVar = ThreatModel(
        goal="a property of all rows used together",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="Ateniese et al. 2015",
        cost="200 rounds beforehand; one posterior a round",
    )

    n_pilot: ClassVar[int] = 200

    def __init__(self, column: int | None = None) -> None:
        self.column = column

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        members, table = game.members.astype(np.float64), np.asarray(game.features)
        known = ~np.isnan(table)
        means = members @ np.where(known, table, 0.0) / np.maximum(members @ known, 1)
        above: NDArray[np.intp] = (means > np.median(means, axis=0)).astype(np.intp)
        if self.column is None:
            beliefs = np.stack([game.play(rehearsal).posterior for _ in range(self.n_pilot)])
            likely = beliefs @ above
            blind = np.maximum(game.prior @ above, 1 - game.prior @ above)
            column = int(np.argmax(np.maximum(likely, 1 - likely).mean(axis=0) - blind))
        else:
            column = check_integer(name="column", value=self.column, minimum=0)
            if column >= table.shape[1]:
                raise ValueError(f"column must be below {table.shape[1]}, got {column}.")
        codes = above[:, column]
        return tally(
            self.name,
            "whether the average of a column is above its median",
            game,
            n_trials,
            trials,
            blind=blind_class(game.prior, codes),
            right=lambda played: is_class_right(played, codes),
            details=(("column", str(column)),),
        )
