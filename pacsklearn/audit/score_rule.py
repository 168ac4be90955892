"""From scores to verdicts: the rule that is right most often on rounds that are not counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats


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
    edges = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    above, below = edges[int(np.argmax(right))], edges[int(np.argmin(right))]
    return [
        # Just below the edge: scores come again exactly where nothing is noised, and must count.
        ScoreRule(np.asarray, float(np.nextafter(above, -np.inf)), "score above a threshold"),
        ScoreRule(np.negative, -below, "score below a threshold"),
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
