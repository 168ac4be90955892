"""Was one person's record used: the best attack there is."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round, units_to_attack
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM

# Units whose posteriors are computed together.
_CHUNK = 4096
RULES = ("posterior", "always a member", "never a member")


@final
class OptimalMembershipAttack(Attack):
    """Calls a unit a member when its posterior probability of being one is above one half.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack. The least protected one when not given, chosen as below.
    n_pilot : int, default=200
        Rounds played beforehand to choose it.

    Notes
    -----
    No rule does better on a sound mechanism (pac-private-responses, Proposition 6.1: the success
    given a transcript is the posterior probability of the answer, so the likelier answer is best,
    whatever the prior).

    *Why the interval is valid.* The unit, and the rule, are chosen on ``n_pilot`` rounds with a
    random stream of their own; the trials that are counted are played afterwards, and only that
    unit is judged by that rule. The unit is the one whose success, ``mean max(P, 1 - P)`` over the
    pilot's posteriors, exceeds its blind success most. A broken mechanism can make posteriors
    wrong, and use the rows of several candidates: if answering "member", or "no member", whatever
    is seen was right more often in the pilot than the posterior, that is the rule, and the unit is
    the one for which it was right most often.

    A unit in all candidates, or in none, has nothing to hide and is never chosen.

    Examples
    --------
    >>> from pacsklearn.audit.membership_attack import OptimalMembershipAttack
    >>> from pacsklearn.testing import example_games
    >>> result = OptimalMembershipAttack().run(example_games().sound, n_trials=200, seed=0)
    >>> result.prior, result.violates()
    (0.5, False)
    """

    name = "optimal_membership"
    description = "the best possible attack on one unit's membership"
    needs = ("units",)
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="Bayes' rule; pac-private-responses, Proposition 6.1",
        cost="200 rounds beforehand to choose the row; one posterior a round",
    )

    def __init__(self, unit: int | None = None, n_pilot: int = 200) -> None:
        self.unit = unit
        self.n_pilot = n_pilot

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        pilot = check_integer(name="n_pilot", value=self.n_pilot, minimum=1)
        self.check_plays(game)
        members = game.members
        assert members is not None
        units = units_to_attack(self.unit, game, members)
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        unit, rule = _choose(members, units, game, [game.play(rehearsal) for _ in range(pilot)])
        own = members[:, unit]
        return tally(
            self.name,
            MEMBERSHIP_AIM,
            game,
            n_trials,
            trials,
            blind=float(blind_success(game.prior @ own)),
            right=lambda played: decide(rule, played.posterior @ own) == played.holds(own),
            details=(("unit", str(unit)), ("rule", RULES[rule])),
        )


def _choose(
    members: NDArray[np.bool_], units: NDArray[np.intp], game: Game, pilot: list[Round]
) -> tuple[int, int]:
    """Return the unit to attack and number of the rule, by the pilot's rounds alone."""
    posteriors = np.stack([played.posterior for played in pilot])
    expected, measured = np.empty(units.size), np.empty((len(RULES), units.size))
    for start in range(0, units.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        own = members[:, units[part]].astype(np.float64)
        likely = posteriors @ own
        truth = np.stack([played.holds(own > 0) for played in pilot])
        expected[part], measured[:, part] = gains(likely, truth, blind_success(game.prior @ own))
    best, rule = best_gain(expected, measured)
    return int(units[best]), rule


def gains(likely: Floats, truth: NDArray[np.bool_], blind: Floats) -> tuple[Floats, Floats]:
    """Return what attacks on each unit gain over a blind guess in a pilot's rounds.

    Parameters
    ----------
    likely : ndarray of shape (n_rounds, n_units)
        Posterior probability of membership.
    truth : ndarray of shape (n_rounds, n_units)
    blind : ndarray of shape (n_units,)

    Returns
    -------
    ndarray of shape (n_units,), ndarray of shape (n_rules, n_units)
        As the posteriors expect, and as each rule was right.
    """
    right = [(decide(rule, likely) == truth).mean(axis=0) for rule in range(len(RULES))]
    return blind_success(likely).mean(axis=0) - blind, np.stack(right) - blind


def best_gain(expected: Floats, measured: Floats) -> tuple[int, int]:
    """Return the unit and the number of the rule that promise most, by :func:`gains`."""
    rule = int(np.argmax(measured.mean(axis=1)))
    return int(np.argmax(expected if rule == 0 else measured[rule])), rule


def decide(rule: int, likely: Floats) -> NDArray[np.bool_]:
    """Return whether to say "member", given the posterior probability of membership."""
    return np.asarray([likely > 0.5, np.ones_like(likely) > 0, np.zeros_like(likely) > 0][rule])


def blind_success(share: Floats) -> Floats:
    """Return the success of the better of the two constant answers."""
    return np.maximum(share, 1.0 - share)
