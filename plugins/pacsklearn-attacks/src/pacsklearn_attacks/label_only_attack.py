"""Was one row used, judged by predicted labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ShadowAttack

_SCALES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)


@final
class LabelOnlyAttack(ShadowAttack):
    """How far a row may be pushed until its label changes: the distance to the boundary.

    A model that fits a row has its boundary farther away from it. The label of the row and of
    copies with noise of growing size added are asked; the score is the share that has the row's
    own label.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen among 64 when not given.
    n_shadow : int, default=50
        Models released beforehand, to choose unit and threshold.
    n_copies : int, default=8
        Copies for each of five sizes of the noise: 0.1 to 1.6 standard deviations of a feature.

    Notes
    -----
    The copies are drawn once, by the seed. Source: Choquette-Choo et al. (2021), Label-only
    membership inference attacks; Li and Zhang (2021).
    """

    name = "label_only"
    description = "one unit's membership, by predicted labels alone"
    needs = ("units", "labels", "features", "targets")
    most_units = 64
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="the row and its label; 50 models whose rows it knows",
        power="asks the released model for labels only",
        reference="Choquette-Choo et al. 2021; Li and Zhang 2021",
        cost="50 releases beforehand; 41 labels a round",
    )

    def __init__(self, unit: int | None = None, n_shadow: int = 50, n_copies: int = 8) -> None:
        super().__init__(unit, n_shadow)
        self.n_copies = n_copies

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        features, targets = np.asarray(game.features), np.asarray(game.targets)
        generator = np.random.default_rng(seed)
        noise = [
            scale * generator.standard_normal((self.n_copies if scale else 1, features.shape[1]))
            for scale in _SCALES
        ]
        pushes = np.concatenate(noise) * np.nanstd(features, axis=0)

        def score(played: Round, units: Any) -> Any:
            copies = features[units][:, None] + pushes
            labels = game.labels(played.released, copies.reshape(-1, features.shape[1]))
            own = np.repeat(targets[units], len(pushes), axis=0)
            return (np.asarray(labels) == own).reshape(len(units), -1).mean(axis=1)

        return score, rounds
