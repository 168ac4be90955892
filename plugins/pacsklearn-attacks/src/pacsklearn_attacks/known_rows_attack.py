"""Was one person's record used, by an adversary who knows it of some others."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round, secret_units
from pacsklearn.audit.membership_attack import RULES, best_gain, decide, gains
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats


@final
class KnownRowsAttack(Attack):
    """Tells one unit's membership, knowing the candidates and whether some other units were used.

    Parameters
    ----------
    k : int, default=2
        Units whose membership is known. They are drawn by the seed, like people who say so.
    n_pilot : int, default=200
        Rounds played beforehand to choose the unit that is attacked.

    Notes
    -----
    The blind success is that of somebody who knows the same memberships and sees no release: the
    candidates that agree with them are left, and the likelier answer among those is taken. It is
    held against the bound for that blind success, which the release may not pass: the known
    memberships are a function of the secret.

    The unit, the rule and the known units are fixed before the trials that are counted.

    Examples
    --------
    >>> from pacsklearn_attacks.known_rows_attack import KnownRowsAttack
    >>> from pacsklearn.testing import example_games
    >>> result = KnownRowsAttack().run(example_games().sound, n_trials=200, seed=2)
    >>> result.prior > 0.5, result.violates()
    (True, False)
    """

    name = "known_rows"
    description = "one unit's membership, knowing that of k others"
    needs: ClassVar[tuple[str, ...]] = ("units",)
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows and candidates; whether k other rows were used",
        power="looks at the release, with unlimited computing power",
        reference="Bayes' rule given what is known",
        cost="200 rounds beforehand; one posterior a round",
    )

    def __init__(self, k: int = 2, n_pilot: int = 200) -> None:
        self.k = k
        self.n_pilot = n_pilot
        self._known = self._own = np.empty((0, 0), dtype=bool)

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        pilot = check_integer(name="n_pilot", value=self.n_pilot, minimum=1)
        k = check_integer(name="k", value=self.k, minimum=0)
        self.check_plays(game)
        members = game.members
        assert members is not None
        hidden = np.flatnonzero(secret_units(game, members))
        if hidden.size <= k:
            raise ValueError(
                f"k must be below the {hidden.size} units whose membership is a secret, got {k}."
            )
        people, rehearsal, trials = np.random.default_rng(seed).spawn(3)
        order = people.permutation(hidden)
        known, others = members[:, order[:k]], members[:, order[k:]]
        blind = _blind_knowing(game.prior, known, others)
        rounds = [game.play(rehearsal) for _ in range(pilot)]
        likely = np.stack([_likely(played, known, others) for played in rounds])
        truth = np.stack([played.holds(others) for played in rounds])
        chosen, rule = best_gain(*gains(likely, truth, blind))
        own = others[:, chosen]
        self._known, self._own = known, own
        return tally(
            self.name,
            f"membership of one unit, knowing {k} others",
            game,
            n_trials,
            trials,
            blind=float(blind[chosen]),
            right=lambda played: decide(rule, _likely(played, known, own)) == played.holds(own),
            details=(("unit", str(order[k + chosen])), ("rule", RULES[rule])),
        )

    def membership_score(self, game: Game, played: Round, unit: int) -> float:
        """Return what the attack judges by: the posterior given the memberships that are known."""
        return float(_likely(played, self._known, self._own))


def _blind_knowing(prior: Floats, known: NDArray[np.bool_], others: NDArray[np.bool_]) -> Floats:
    """Return the success at each other unit before any release; shape (n_others,)."""
    classes = np.unique(known, axis=0, return_inverse=True)[1].ravel()
    weighed = np.zeros((int(classes.max()) + 1, prior.size))
    weighed[classes, np.arange(prior.size)] = prior
    inside = weighed @ others
    total = weighed.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(np.maximum(inside, total - inside).sum(axis=0), 1.0))


def _likely(played: Round, known: NDArray[np.bool_], own: NDArray[np.bool_]) -> Floats:
    """Return the probability of membership after the round, given the known ones."""
    left = played.posterior * np.all(known == played.holds(known), axis=1)
    # Where the posterior is wrong, nobody may be left who fits; then it is taken as it is.
    left = left if left.sum() > 0 else played.posterior
    return np.asarray(left @ own / left.sum())
