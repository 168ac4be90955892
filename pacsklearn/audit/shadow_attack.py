"""Attacks that learn from models whose training rows they know; LiRA, by confidence, is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round, units_to_attack
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM


@final
@dataclass(frozen=True)
class ScoreRule:
    """Members are those whose score, seen through ``score``, lies above an edge."""

    score: Callable[[Any], Any]
    edge: float
    words: str

    def says_member(self, shown: Any) -> NDArray[np.bool_]:
        """Return the verdicts for scores."""
        return np.asarray(self.score(shown) > self.edge)


def best_rule(shown: Floats, inside: NDArray[np.bool_], prior: float) -> ScoreRule:
    """Return a threshold in either direction, or a ratio of normal densities: whichever does best.

    Parameters
    ----------
    shown : ndarray of shape (n,)
        Scores.
    inside : ndarray of shape (n,)
        What is true.
    prior : float
        Chance of membership.
    """
    rules = [*_thresholds(shown, inside), *_densities(shown, inside, prior)]
    accuracy = [np.mean(rule.says_member(shown) == inside) for rule in rules]
    return rules[int(np.argmax(accuracy))]


def separations(shown: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return the distances between scores with and without a unit, in standard deviations.

    Parameters
    ----------
    shown, inside : ndarrays of shape (n_rounds, n_units)

    Returns
    -------
    ndarray of shape (n_units,)
        Infinite where both are one point each; -1 where one of them was hardly seen.
    """
    n_in, n_out = inside.sum(axis=0), (~inside).sum(axis=0)
    # Squares of large scores would lose what they differ in.
    shown = shown - np.nan_to_num(shown[0])
    means = [np.where(side, shown, 0).sum(axis=0) for side in (inside, ~inside)]
    squares = [np.where(side, shown**2, 0).sum(axis=0) for side in (inside, ~inside)]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = means[1] / n_out, means[0] / n_in
        spread = squares[0] / n_in - high**2 + squares[1] / n_out - low**2
        apart = np.abs(high - low) / np.sqrt(spread)
    seen = (n_in > 1) & (n_out > 1)
    # Where both distributions are one point each they are as far apart as can be.
    certain = seen & ~(spread > 0) & (high != low)
    return np.where(certain, np.inf, np.where(seen & np.isfinite(apart), apart, -1.0))


def _thresholds(shown: Floats, inside: NDArray[np.bool_]) -> list[ScoreRule]:
    order = np.argsort(shown, kind="stable")
    values, truth = shown[order], inside[order]
    # Calling a member everything from position i on is right about these many.
    right = np.concatenate([[0], np.cumsum(~truth)]) + (
        truth.sum() - np.concatenate([[0], np.cumsum(truth)])
    )
    lower, upper = values[:-1], values[1:]
    middles = np.minimum((lower + upper) / 2, np.nextafter(upper, -np.inf))
    edges = np.concatenate([[-np.inf], middles, [np.inf]])
    # Equal scores are on one side of any edge.
    cuts = np.concatenate([[0], np.flatnonzero(lower < upper) + 1, [values.size]])
    above, below = (edges[cuts[place(right[cuts])]] for place in (np.argmax, np.argmin))
    return [
        ScoreRule(np.asarray, float(above), "score above a threshold"),
        ScoreRule(np.negative, -float(np.nextafter(below, np.inf)), "score below a threshold"),
    ]


def _densities(shown: Floats, inside: NDArray[np.bool_], prior: float) -> list[ScoreRule]:
    sides = [shown[inside], shown[~inside]]
    if min(side.size for side in sides) < 2 or not 0 < prior < 1:
        return []
    means, spreads = [side.mean() for side in sides], [side.std(ddof=1) for side in sides]
    # A single point has no density to compare.
    if min(spreads) <= 0:
        return []

    def ratio(score: Any) -> Any:
        logs = [
            -((np.asarray(score) - mean) ** 2) / (2 * spread**2) - np.log(spread)
            for mean, spread in zip(means, spreads, strict=True)
        ]
        return logs[0] - logs[1] + np.log(prior / (1 - prior))

    return [ScoreRule(ratio, 0.0, "ratio of two normal densities")]


Scorer: TypeAlias = Callable[[Round, NDArray[np.intp]], Floats]
"""``scorer(played, units)``: a score for each of some units, for what a round shows."""

Learnt: TypeAlias = tuple[Scorer, Sequence[Round]]
"""Score, and the shadow rounds on which the rule is chosen."""


class ShadowAttack(Attack):
    """Judges one unit's membership by a score, having seen the scores of *shadow* rounds.

    Shadow rounds are played beforehand, with secrets that the adversary knows: releases of its own.
    Score, unit, and the rule that turns a score into a verdict are chosen on them alone, so the
    interval of the result is valid. A subclass says what else is scored, in :meth:`learn`.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; the game's target, or the one that the score tells most about,
        when not given.
    n_shadow : int, optional
        Shadow rounds; ``shadows`` of the class when not given.

    Attributes
    ----------
    shadows : int
        Shadow rounds that are enough for most games.
    pooled : bool
        Whether the rule is one for all units, learnt from all of them, so that few shadow rounds
        are enough; otherwise it is the attacked unit's own.
    most_units : int
        Units that are looked at to choose one; drawn by the seed when there are more.
    """

    needs: ClassVar[tuple[str, ...]] = ("units", "confidences")
    shadows: ClassVar[int] = 400
    pooled: ClassVar[bool] = False
    most_units: ClassVar[int] = 1 << 20

    def __init__(self, unit: int | None = None, n_shadow: int | None = None) -> None:
        self.unit = unit
        self.n_shadow = n_shadow
        self._rule = ScoreRule(np.asarray, np.inf, "")
        self._scorer: Scorer | None = None

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        """Score, and the shadow rounds on which the rule is chosen.

        The confidence of the released model in a unit's rows, by default.

        Parameters
        ----------
        game : Game
            Offers what the attack needs.
        rounds : sequence of Round
            Shadow rounds.
        seed : int
            Of anything random in it.
        """
        return (lambda played, units: game.confidences(played.released)[units]), rounds

    def rule(self, shown: Floats, inside: NDArray[np.bool_], prior: float) -> ScoreRule:
        """Return the rule for scores of units, some inside, of which a share is expected to be.

        The best of several by default; a score may bring its own along.
        """
        return best_rule(shown, inside, prior)

    @final
    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        check_integer(name="n_trials", value=n_trials, minimum=1)
        wanted = self.shadows if self.n_shadow is None else self.n_shadow
        shadows = check_integer(name="n_shadow", value=wanted, minimum=8)
        self.check_plays(game)
        members = game.members
        # Streams apart: nothing that the attack chooses by was seen in a round that is counted.
        rehearsal, trials, choice = np.random.default_rng(seed).spawn(3)
        rounds: Sequence[Round] = [game.play(rehearsal) for _ in range(shadows)]
        units = units_to_attack(self.unit, game, members)
        if units.size > self.most_units:
            units = np.sort(choice.permutation(units)[: self.most_units])
        scorer, rounds = self.learn(game, rounds, int(choice.integers(2**31)))
        shown = np.stack([scorer(played, units) for played in rounds])
        inside = rounds_with(members, rounds)[:, units]
        chosen = int(np.argmax(separations(shown, inside)))
        unit = int(units[chosen])
        share = float(game.prior @ members[:, unit])
        if not self.pooled:
            shown, inside = shown[:, chosen], inside[:, chosen]
        rule = self.rule(shown.ravel(), inside.ravel(), share)
        self._scorer, self._rule = scorer, rule

        def right(played: Round) -> bool:
            guess = rule.edge < self.membership_score(game, played, unit)
            return guess == bool(played.holds(members[:, unit]))

        return tally(
            self.name,
            MEMBERSHIP_AIM,
            game,
            n_trials,
            trials,
            blind=max(share, 1 - share),
            right=right,
            details=(("unit", str(unit)), ("rule", rule.words)),
        )

    @final
    def membership_score(self, game: Any, played: Round, unit: int) -> float:
        """Return what the attack judges by.

        Larger for members, by the rule that :meth:`run` chose.
        """
        assert self._scorer is not None
        return float(self._rule.score(self._scorer(played, np.array([unit]))[0]))


def rounds_with(members: NDArray[np.bool_], rounds: Sequence[Round]) -> NDArray[np.bool_]:
    """Return whether each unit was used in each round; shape (n_rounds, n_units)."""
    return np.stack([played.holds(members) for played in rounds])


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
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; many models whose rows it knows",
        power="looks at the released model",
        reference="Carlini et al. 2022",
        cost="400 releases beforehand; one confidence a round",
    )
