"""Was one person's record used, judged by how sure the released model is of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.secret_units import forced_unit, secret_units
from pacsklearn.core.attack import Attack, AttackResult
from pacsklearn.core.game import Game, Round
from pacsklearn.information.arrays import Floats

__all__ = ["LiRAAttack"]


@final
@dataclass(frozen=True)
class _Rule:
    """Members are those whose score lies above an edge."""

    score: Callable[[Any], Any]
    edge: float
    words: str


@final
class LiRAAttack(Attack):
    """Likelihood-ratio attack on the confidence of a released model in one unit's rows.

    The attack that practitioners run, which needs no posterior: it compares the model's confidence
    with that of models whose training rows are known, some with the unit and some without.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; the game's target, or the one whose two distributions are
        furthest apart, when not given.
    n_shadow : int, default=400
        Models released beforehand to learn the two distributions.

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
    needs = ("units", "confidences")
    automatic = True

    def __init__(self, unit: int | None = None, n_shadow: int = 400) -> None:
        self.unit = unit
        self.n_shadow = n_shadow
        self._rule = _Rule(np.asarray, np.inf, "")

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        count = check_integer(name="n_trials", value=n_trials, minimum=1)
        shadows = check_integer(name="n_shadow", value=self.n_shadow, minimum=8)
        members = game.members
        if members is None or not self.can_play(game):
            raise ValueError(
                "game must release models of subsets of rows, and say how sure they are of each "
                "row (ReplayedGame); attack other games with 'optimal_membership'."
            )
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        rounds = [game.play(rehearsal) for _ in range(shadows)]
        shown = np.stack([game.confidences(played.released) for played in rounds])
        inside = np.stack([members[list(played.used)].any(axis=0) for played in rounds])
        unit = self._choose(game, members, shown, inside)
        self._rule = _best_rule(
            shown[:, unit], inside[:, unit], float(game.prior @ members[:, unit])
        )
        right = 0
        for _ in range(count):
            played = game.play(trials)
            guess = self.membership_score(game, played, unit) > self._rule.edge
            right += guess == bool(members[list(played.used), unit].any())
        share = float(game.prior @ members[:, unit])
        blind = max(share, 1 - share)
        return AttackResult(
            self.name,
            "membership of one unit",
            count,
            right,
            blind,
            game.bound(blind),
            (("unit", str(unit)), ("rule", self._rule.words)),
        )

    def membership_score(self, game: Any, played: Round, unit: int) -> float:
        """What the attack judges by: larger for members, by the rule that :meth:`run` chose."""
        return float(self._rule.score(game.confidences(played.released)[unit]))

    def _choose(
        self, game: Game, members: NDArray[np.bool_], shown: Floats, inside: NDArray[np.bool_]
    ) -> int:
        hidden = secret_units(game, members)
        fixed = forced_unit(self.unit, game, hidden)
        if fixed is not None:
            return fixed
        n_in, n_out = inside.sum(axis=0), (~inside).sum(axis=0)
        means = [np.where(side, shown, 0).sum(axis=0) for side in (inside, ~inside)]
        squares = [np.where(side, shown**2, 0).sum(axis=0) for side in (inside, ~inside)]
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = means[1] / n_out, means[0] / n_in
            spread = squares[0] / n_in - high**2 + squares[1] / n_out - low**2
            apart = np.abs(high - low) / np.sqrt(spread)
        usable = hidden & (n_in > 1) & (n_out > 1) & np.isfinite(apart)
        # Where both distributions are one point each they are as far apart as can be.
        certain = hidden & (n_in > 1) & (n_out > 1) & ~(spread > 0) & (high != low)
        return int(np.argmax(np.where(certain, np.inf, np.where(usable, apart, -1.0))))


def _best_rule(shown: Floats, inside: NDArray[np.bool_], prior: float) -> _Rule:
    """Rule that is right most often on the shadow models."""
    rules = [*_thresholds(shown, inside), *_densities(shown, inside, prior)]
    accuracy = [np.mean((rule.score(shown) > rule.edge) == inside) for rule in rules]
    return rules[int(np.argmax(accuracy))]


def _thresholds(shown: Floats, inside: NDArray[np.bool_]) -> list[_Rule]:
    order = np.argsort(shown, kind="stable")
    values, truth = shown[order], inside[order]
    # Calling a member everything from position i on is right about these many.
    right = np.concatenate([[0], np.cumsum(~truth)]) + (
        truth.sum() - np.concatenate([[0], np.cumsum(truth)])
    )
    edges = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    above, below = edges[int(np.argmax(right))], edges[int(np.argmin(right))]
    return [
        _Rule(np.asarray, float(np.nextafter(above, -np.inf)), "confidence above a threshold"),
        _Rule(np.negative, -below, "confidence below a threshold"),
    ]


def _densities(shown: Floats, inside: NDArray[np.bool_], prior: float) -> list[_Rule]:
    sides = [shown[inside], shown[~inside]]
    if min(side.size for side in sides) < 2 or not 0 < prior < 1:
        return []
    means, spreads = [side.mean() for side in sides], [side.std(ddof=1) for side in sides]
    if min(spreads) <= 0:
        return []

    def ratio(score: Any) -> Any:
        logs = [
            -((np.asarray(score) - mean) ** 2) / (2 * spread**2) - np.log(spread)
            for mean, spread in zip(means, spreads, strict=True)
        ]
        return logs[0] - logs[1] + np.log(prior / (1 - prior))

    return [_Rule(ratio, 0.0, "ratio of two normal densities")]
