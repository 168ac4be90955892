"""The one unknown record, computed from the parameters of a released model."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.audit.row_equations import unknown_row
from pacsklearn.audit.tally import tally_names
from pacsklearn.core.attack import Attack, AttackResult, ThreatModel
from pacsklearn.core.game import Round

__all__ = ["RecordAttack"]


@final
class RecordAttack(Attack):
    """Solves a linear model's or a PCA's equations for the record it does not know.

    Everything but one record is known, and the record is one of a list: that nearest to the
    solution is named, distances measured in standard deviations of each feature.

    Notes
    -----
    There is nothing to choose, so every round counts. The game is
    :func:`~pacsklearn.audit.record_game.record_game`.
    Source: Balle, Cherubin and Hayes (2022), Reconstructing training data with informed
    adversaries.
    """

    name = "record"
    needs = ("units", "models", "features")
    threat: ClassVar = ThreatModel(
        goal="reconstruction of one record",
        knowledge="all rows of the model but one, and a list that holds it",
        power="looks at the released parameters",
        reference="Balle, Cherubin and Hayes 2022",
        cost="one linear equation a round",
    )

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        members = game.members
        own = [] if members is None else _own_units(members)
        if not len(own) or not self.can_play(game):
            raise ValueError(
                "game must be one whose candidates are known rows and one more, each another "
                "(record_game)."
            )
        features = np.asarray(game.features)
        known = np.flatnonzero(members.all(axis=0))
        targets = np.asarray(game.targets)[known] if hasattr(game, "targets") else None
        records = features[own]
        scale = np.maximum(features.std(axis=0), np.finfo(np.float64).tiny)

        def named(played: Round) -> int:
            row = unknown_row(game.models(played.released)[-1], features[known], targets)
            return int(np.argmin(np.sum(((records - row) / scale) ** 2, axis=1)))

        return tally_names(self.name, "naming the record", game, n_trials, seed, named)


def _own_units(members: Any) -> Any:
    """The unit that each candidate alone has; empty where there is another number of them."""
    own = members & ~members.all(axis=0)
    if not np.all(own.sum(axis=1) == 1):
        return []
    return np.argmax(own, axis=1)
