"""Was one row used, judged against how other rows fare: the relative attack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ShadowAttack


@final
class RMIAAttack(ShadowAttack):
    """Relative membership inference: is the row surer than other rows, allowing for how hard it is.

    For each row the model's confidence is compared with the mean over a few reference models; the
    score is the share of all other rows that gain less.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Models released beforehand: half are the references, half choose unit and threshold; 16
        when not given.

    Notes
    -----
    Confidences of a game are log-odds, or negative losses, so a ratio of likelihoods is a
    difference of confidences. The mean over the references is taken of these logarithms, and the
    factor by which a row has to dominate another is 1: both make the score independent of the
    scale of the confidences, which models without probabilities do not have in common.

    Source: Zarifzadeh, Liu and Shokri (2024), Low-cost high-power membership inference attacks.
    """

    name = "rmia"
    description = "one unit's membership, judged against how other rows fare"
    needs = ("units", "confidences")
    shadows = 16
    pooled = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Zarifzadeh, Liu and Shokri 2024",
        cost="16 releases beforehand; the confidence in all rows a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        # Rounds apart from those that the rule is chosen on: a row is never its own reference.
        references = rounds[: len(rounds) // 2]
        usual = np.mean([game.confidences(played.released) for played in references], axis=0)

        def score(played: Round, units: Any) -> Any:
            gains = game.confidences(played.released) - usual
            ranks = np.searchsorted(np.sort(gains), gains[units], side="right")
            return ranks / gains.size

        return score, rounds[len(rounds) // 2 :]
