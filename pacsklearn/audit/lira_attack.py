"""Was one person's record used, judged by how sure the released model is of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ShadowAttack


@final
class LiRAAttack(ShadowAttack):
    """Likelihood-ratio attack on the confidence of a released model in one unit's rows.

    The attack that practitioners run, which needs no posterior: it compares the model's confidence
    with that of models whose training rows are known, some with the unit and some without.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; the game's target, or the one whose two distributions are
        furthest apart, when not given.
    n_shadow : int, optional
        Models released beforehand to learn the two distributions; 400 when not given.

    Notes
    -----
    Two rules are fitted to the shadow models, and the one that does better on them is used: a
    threshold, in either direction, on the empirical distributions, and the ratio of two normal
    densities times the prior odds. Unit, rule and threshold are chosen on shadow models alone, so
    the interval of the result is valid. With so many candidates that the adversary computes the
    posterior exactly, ``"optimal_membership"`` is stronger by construction; this one looks at the
    published model itself, and also finds what leaks past the noise.

    Source: pac-private-algorithms, section 8.1, after Carlini et al. (2022). The paper takes the
    best threshold on the trials that it counts, which is right more often than any attack is.
    """

    name = "lira"
    description = "one unit's membership, by the confidence of the released model"
    needs = ("units", "confidences")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; many models whose rows it knows",
        power="looks at the released model",
        reference="Carlini et al. 2022",
        cost="400 releases beforehand; one confidence a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        return (lambda played, units: game.confidences(played.released)[units]), rounds
