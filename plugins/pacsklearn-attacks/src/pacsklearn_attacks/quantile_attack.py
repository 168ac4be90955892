"""Was one row used, judged by the confidence that a row like it usually gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ShadowAttack, rounds_with

_MOST_PAIRS = 20_000
_LEVELS = (0.5, 0.9)


@final
class QuantileAttack(ShadowAttack):
    """Quantile regression of the confidence in non-members on their features.

    A row is suspicious when the model is surer of it than of rows with such features that were not
    used. What is usual is learnt from features to confidences, not for each row by shadow models.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Releases whose rows are known: half of them teach the regression, half the threshold; 8
        when not given.

    Notes
    -----
    The score is the distance above the median, in units of the distance between median and 90 %
    quantile. Source: Bertran et al. (2023), Scalable membership inference attacks via quantile
    regression.
    """

    name = "quantile"
    description = "one unit's membership, by the confidence that such rows usually get"
    needs = ("units", "confidences", "features")
    shadows = 8
    pooled = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="features and targets of all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Bertran et al. 2023",
        cost="8 releases beforehand and two regressions; one confidence a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        half = len(rounds) // 2
        taught = rounds[:half]
        shown = np.stack([game.confidences(played.released) for played in taught])
        # Where units were not used: what is usual must not be learnt from members.
        numbers, units = np.nonzero(~rounds_with(game.members, taught))
        if len(units) > _MOST_PAIRS:
            kept = np.random.default_rng(seed).permutation(len(units))[:_MOST_PAIRS]
            numbers, units = numbers[kept], units[kept]
        features = np.asarray(game.features)
        usual = []
        for level in _LEVELS:
            regression = HistGradientBoostingRegressor(
                loss="quantile", quantile=level, max_iter=50, max_depth=4, random_state=0
            ).fit(features[units], shown[numbers, units])
            usual.append(regression.predict(features))
        # Quantiles that coincide leave no unit to measure a distance in.
        width = np.maximum(usual[1] - usual[0], 1e-9 * max(float(np.ptp(shown)), 1e-9))

        def score(played: Round, units: Any) -> Any:
            own = game.confidences(played.released)[units]
            return (own - usual[0][units]) / width[units]

        return score, rounds[half:]
