"""Was one row used: the likelihood ratio with few shadow models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ScoreRule, ShadowAttack, rounds_with


@final
class RobustLiRAAttack(ShadowAttack):
    """Likelihood ratio of two normal densities whose variances are shared by all rows.

    A variance for every row takes hundreds of shadow models; a mean takes a few. With one variance
    of members and one of non-members, over all rows, sixteen shadow models are enough.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Models released beforehand; 16 when not given.

    Notes
    -----
    The verdict is by Bayes' rule for the fitted densities; no threshold is learnt.
    Source: Carlini et al. (2022), the attack with a global variance.
    """

    name = "robust_lira"
    description = "one unit's membership, by few models whose rows are known"
    needs = ("units", "confidences")
    shadows = 16
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Carlini et al. 2022, global variance",
        cost="16 releases beforehand; one confidence a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        shown = np.stack([game.confidences(played.released) for played in rounds])
        inside = rounds_with(game.members, rounds)
        means, spreads = [], []
        for side in (inside, ~inside):
            count = side.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.where(side, shown, 0).sum(axis=0) / count
            left = np.where(side, shown - mean, 0)[:, count > 1]
            freedom = int((count[count > 1] - 1).sum())
            means.append(mean)
            spreads.append(float((left**2).sum()) / max(freedom, 1))
        # Without any spread the nearer mean decides.
        spread = [max(each, np.finfo(np.float64).tiny ** 0.5) for each in spreads]

        def score(played: Round, units: Any) -> Any:
            own = game.confidences(played.released)[units]
            logs = [
                -((own - mean[units]) ** 2) / (2 * each) - np.log(each) / 2
                for mean, each in zip(means, spread, strict=True)
            ]
            return np.nan_to_num(logs[0] - logs[1], nan=0.0)

        return score, rounds

    def rule(self, shown: Any, inside: Any, prior: float) -> ScoreRule:
        with np.errstate(divide="ignore"):
            edge = float(np.log1p(-prior) - np.log(prior))
        return ScoreRule(np.asarray, edge, "ratio of densities with shared variances")
