"""Was one row trained on, judged by the loss of the published model on it."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.row_losses import membership_auc
from pacsklearn.audit.secret_units import units_to_attack
from pacsklearn.kernel.bounds.arrays import Floats


@final
class LossThresholdAttack(Attack):
    """Calls a row a member when the model's loss on it is low.

    Parameters
    ----------
    unit : int, optional
        Row, or unit of privacy, to attack; the game's target, or the one whose loss depends most
        on its membership, when not given.
    n_pilot : int, default=50
        Rounds played beforehand to choose unit and threshold.

    Notes
    -----
    The simplest attack there is: it needs no model of its own, and finds models that have learnt
    their rows by heart. The result names the area under the curve over all rows of a model
    (``auc``: 0.5 when losses tell nothing), averaged over the counted rounds. Threshold and unit
    are chosen on the pilot, so that the interval of the result is valid.

    Source: srpp, appendix W.3, after Yeom et al. (2018).
    """

    name = "loss_threshold"
    description = "one unit's membership, by the loss of the published model"
    needs = ("units", "confidences")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="the row; 50 models whose rows it knows",
        power="looks at the released model",
        reference="Yeom et al. 2018",
        cost="50 releases beforehand; one loss a round",
    )

    def __init__(self, unit: int | None = None, n_pilot: int = 50) -> None:
        self.unit = unit
        self.n_pilot = n_pilot

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        count = check_integer(name="n_trials", value=n_trials, minimum=1)
        pilot = check_integer(name="n_pilot", value=self.n_pilot, minimum=4)
        members = game.members
        if members is None or not self.can_play(game):
            raise ValueError(
                "game must publish models of subsets of rows, and say how well they fit each row "
                "(TrainingGame, ReplayedGame); attack other games with 'optimal_membership'."
            )
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        shown, inside = [], []
        for _ in range(pilot):
            played = game.play(rehearsal)
            shown.append(game.confidences(played.released))
            inside.append(_used(members, played))
        scores, truth = np.stack(shown), np.stack(inside)
        unit = _most_telling(scores, truth, units_to_attack(self.unit, game, members))
        threshold = _threshold(scores[:, unit], truth[:, unit])
        right, areas = 0, []
        for _ in range(count):
            played = game.play(trials)
            confidence = game.confidences(played.released)
            within = _used(members, played)
            right += bool((confidence[unit] >= threshold) == within[unit])
            areas.append(membership_auc(-confidence[within], -confidence[~within]))
        share = float(game.prior @ members[:, unit])
        blind = max(share, 1 - share)
        return AttackResult(
            self.name,
            "membership of one unit",
            count,
            right,
            blind,
            game.bound(blind),
            (("unit", str(unit)), ("auc", f"{np.mean(areas):.4f}")),
        )

    def membership_score(self, game: Any, played: Round, unit: int) -> float:
        """Return what the attack judges by: minus the loss on the unit's rows."""
        return float(game.confidences(played.released)[unit])


def _most_telling(scores: Floats, truth: NDArray[np.bool_], units: NDArray[np.intp]) -> int:
    """Return the unit whose loss tells most, by the pilot's rounds."""
    if units.size == 1:
        return int(units[0])
    n_in = np.maximum(truth.sum(axis=0), 1)
    n_out = np.maximum((~truth).sum(axis=0), 1)
    gain = np.where(truth, scores, 0).sum(axis=0) / n_in
    gain -= np.where(truth, 0, scores).sum(axis=0) / n_out
    spread = np.maximum(scores.std(axis=0), np.finfo(np.float64).tiny)
    return int(units[np.argmax((gain / spread)[units])])


def _used(members: NDArray[np.bool_], played: Round) -> NDArray[np.bool_]:
    """Return which units were trained on."""
    return np.asarray(members[list(played.used)].any(axis=0))


def _threshold(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """Return the confidence from which on "member" was right most often in the pilot."""
    order = np.argsort(scores, kind="stable")
    values, known = scores[order], truth[order]
    below = np.concatenate([[0], np.cumsum(~known)])
    above = known.sum() - np.concatenate([[0], np.cumsum(known)])
    edges = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    return float(edges[int(np.argmax(below + above))])
