"""Attacks by the posterior: one row given others, many rows at once, and a property of all."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round, secret_units
from pacsklearn.audit.membership_attack import RULES, best_gain, decide, gains
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_attacks.inserting_attacks import blind_class, is_class_right

_RARE = 0.05


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
    >>> from pacsklearn_attacks import KnownRowsAttack
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


@final
class ReconstructionAttack(Attack):
    """Names a whole candidate subset, and is right when enough of its units were used.

    A weaker aim than naming the secret itself, and a harder one than telling one unit: the named
    units are the reconstruction.

    Parameters
    ----------
    k : int, optional
        Units of the guess that must be in the secret subset. When not given, as many as only one
        pair of candidates in twenty has in common.

    Notes
    -----
    The guess is the candidate that shares ``k`` units with the secret with the largest posterior
    probability, which is Bayes' rule for guesses that are candidates; nothing is chosen by looking
    at rounds. Source of the aim: pac-private-algorithms, section 8.2.
    """

    name = "reconstruction"
    description = "a whole subset with many of its rows right"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="a subset with many rows right",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="pac-private-algorithms, section 8.2",
        cost="one posterior a round",
    )

    def __init__(self, k: int | None = None) -> None:
        self.k = k

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        assert game.members is not None
        members = game.members.astype(np.float64)
        common = members @ members.T
        # The smallest subset: no guess can have more units right than it holds.
        size = int(members.sum(axis=1).min())
        if self.k is None:
            pairs = common[~np.eye(len(common), dtype=bool)]
            k = min(int(np.quantile(pairs, 1 - _RARE)) + 1, size)
        else:
            k = check_integer(name="k", value=self.k, minimum=1)
            if k > size:
                raise ValueError(f"k must be at most the {size} units of a subset, got {k}.")
        gains = (common >= k).astype(np.float64)

        def right(played: Round) -> bool:
            guess = int(np.argmax(gains @ played.posterior))
            return bool(gains[guess, list(played.used)].any())

        return tally(
            self.name,
            f"naming a subset with {k} units right",
            game,
            n_trials,
            np.random.default_rng(seed),
            blind=min(float((gains @ game.prior).max()), 1.0),
            right=right,
        )


@final
class PropertyAttack(Attack):
    """Tells whether the average of a column over the rows used is above its median.

    An average of few rows that a model saw: the share of women, the mean age. Which column is
    chosen on rounds that are not counted.

    Parameters
    ----------
    column : int, optional
        Column of ``game.features``; the one about which most is learnt when not given.

    Attributes
    ----------
    n_pilot : int
        Rounds played beforehand.

    Notes
    -----
    The median is over the candidates, so that guessing blindly has about one half. The verdict is
    Bayes' rule for this question. Source: Ateniese et al. (2015), Hacking smart machines with
    smarter ones.
    """

    name = "property"
    description = "a property of all rows that were used"
    needs = ("units", "features")
    threat: ClassVar = ThreatModel(
        goal="a property of all rows used together",
        knowledge="all rows, all candidates, the law of the noise",
        power="looks at the release, with unlimited computing power",
        reference="Ateniese et al. 2015",
        cost="200 rounds beforehand; one posterior a round",
    )

    n_pilot: ClassVar[int] = 200

    def __init__(self, column: int | None = None) -> None:
        self.column = column

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        members, table = game.members.astype(np.float64), np.asarray(game.features)
        known = ~np.isnan(table)
        means = members @ np.where(known, table, 0.0) / np.maximum(members @ known, 1)
        above: NDArray[np.intp] = (means > np.median(means, axis=0)).astype(np.intp)
        if self.column is None:
            beliefs = np.stack([game.play(rehearsal).posterior for _ in range(self.n_pilot)])
            likely = beliefs @ above
            blind = np.maximum(game.prior @ above, 1 - game.prior @ above)
            column = int(np.argmax(np.maximum(likely, 1 - likely).mean(axis=0) - blind))
        else:
            column = check_integer(name="column", value=self.column, minimum=0)
            if column >= table.shape[1]:
                raise ValueError(f"column must be below {table.shape[1]}, got {column}.")
        codes = above[:, column]
        return tally(
            self.name,
            "whether the average of a column is above its median",
            game,
            n_trials,
            trials,
            blind=blind_class(game.prior, codes),
            right=lambda played: is_class_right(played, codes),
            details=(("column", str(column)),),
        )
