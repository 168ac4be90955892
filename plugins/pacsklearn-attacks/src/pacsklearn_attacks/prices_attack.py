"""Was one row used, judged by what answers cost and when they stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ShadowAttack, rounds_with


@final
class PricesAttack(ShadowAttack):
    """Reads prices, free answers and the moment of exhaustion; never an answer.

    Membership is regressed on what every step of a conversation cost, which of them were free, and
    how many answers there were. A price that depends on the secret beyond the answers, a refusal
    that comes earlier for some rows, is found.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Conversations held beforehand; 200 when not given.

    Notes
    -----
    Ridge regression of the membership of every unit on the steps' charges, learnt on half of the
    shadow rounds; threshold and unit are chosen on the other half.
    Source: the side channels of budgets: Haeberlen, Pierce and Narayan (2011), Differential privacy
    under fire.
    """

    name = "prices"
    description = "one unit's membership, by what answers cost and when they stop"
    needs = ("units", "prices")
    shadows = 200
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="prices of conversations whose secret it knows",
        power="asks queries; reads prices and refusals, no answer",
        reference="Haeberlen, Pierce and Narayan 2011",
        cost="200 conversations beforehand; one regression",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        half = len(rounds) // 2
        facts = np.stack([_facts(game.prices(played.released)) for played in rounds[:half]])
        truth = rounds_with(game.members, rounds[:half]).astype(np.float64)
        scaler, ridge = StandardScaler().fit(facts), Ridge(0.01 * half)
        ridge.fit(scaler.transform(facts), truth)
        weights = ridge.coef_ / scaler.scale_
        start = ridge.intercept_ - weights @ scaler.mean_

        def score(played: Round, units: Any) -> Any:
            return weights[units] @ _facts(game.prices(played.released)) + start[units]

        return score, rounds[half:]


def _facts(prices: Any) -> Any:
    """Charge and freedom of every step, and how many steps there were; NaN: not taken."""
    charges = np.asarray(prices, dtype=np.float64)
    taken = ~np.isnan(charges)
    return np.concatenate([np.where(taken, charges, 0.0), taken & (charges == 0), [taken.sum()]])
