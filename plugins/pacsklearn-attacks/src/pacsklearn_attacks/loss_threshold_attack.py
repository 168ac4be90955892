"""Was one row trained on, judged by the loss of the published model on it."""

from __future__ import annotations

from typing import ClassVar, final

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.shadow_attack import ShadowAttack


@final
class LossThresholdAttack(ShadowAttack):
    """Calls a row a member when the model's loss on it is low.

    Parameters
    ----------
    unit : int, optional
        Row, or unit of privacy, to attack; the game's target, or the one whose loss tells most,
        when not given.
    n_shadow : int, optional
        Models trained beforehand, on which row and threshold are chosen; 50 when not given.

    Notes
    -----
    The simplest attack there is: it needs no model of its own, and finds models that have learnt
    their rows by heart. Row and rule are chosen on the models seen beforehand, so that the interval
    of the result is valid. Source: srpp, appendix W.3, after Yeom et al. (2018).
    """

    name = "loss_threshold"
    description = "one unit's membership, by the loss of the published model"
    needs = ("units", "confidences")
    shadows = 50
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="the row; 50 models whose rows it knows",
        power="looks at the released model",
        reference="Yeom et al. 2018",
        cost="50 releases beforehand; one loss a round",
    )
