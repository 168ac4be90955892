"""Attacks that name the secret by what should say nothing: printed figures, the last digits."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.tally import tally_names
from pacsklearn.kernel.bounds.arrays import Floats

# Enough to rule out every wrong candidate many times over where noise is added in floating point.
_MOST_NUMBERS = 512


@final
class FiguresAttack(Attack):
    """Compares published figures, grid and origin with those of each secret.

    It never looks at the released numbers. On a mechanism whose law of noise is the same whichever
    secret is true it can only guess blindly; one that lists data sets around the true one, or
    scales noise by it, is named at once, however small the budget.

    Notes
    -----
    The likeliest secret, beforehand, of those under which the same would be printed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pacsklearn import SRPPPrivate
    >>> from pacsklearn.audit import run_audit
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SRPPPrivate(lambda X: X[:, :2].mean(axis=0)).fit(X, secret=y)
    >>> audit = run_audit(model, X, secret=y, attacks=["figures"], n_trials=100)
    >>> audit.passed
    True
    """

    name = "figures"
    description = "a secret about the data, by what is printed beside the release"
    needs = ("secrets", "figures")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="a secret about the data",
        knowledge="what would be printed under each secret",
        power="reads what is printed beside the release, no released number",
        reference="our own review of version 1 (pitfall: the released grid named the secret)",
        cost="one comparison for each secret a round",
    )

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)

        def named(played: Round) -> int:
            fits = [each == played.released.figures for each in game.figures]
            return int(np.argmax(game.prior * fits))

        return tally_names(self.name, "naming the secret", game, n_trials, seed, named)


@final
class LowOrderBitsAttack(Attack):
    """Names the candidate whose own numbers explain the released ones to the last bit.

    Two leaks are looked for that no posterior knows of, because on paper they do not exist. A
    number released without noise equals the number of the candidate it belongs to. And noise that
    is added in floating point betrays its centre: near a value ``x`` doubles have a grain, so not
    every double can be the sum of a candidate's number and any noise.

    Notes
    -----
    A candidate whose own number is released bare is named before all others. Otherwise, for each
    candidate and number, the doubles next to the difference between released and own number
    are tried as noise; if none gives the released number, the candidate does not explain it. Of
    those that leave fewest unexplained (released numbers may be computed from noised ones, and then
    nobody explains them) the likeliest is named. On a mechanism that releases integers the rule
    discards candidates at random, and does no better than the posterior. There is nothing to
    choose, so every round counts. Whoever is ruled out is so with certainty: even where the success
    of naming the subset stays below the bound, such a mechanism is broken.

    Source: Mironov (2012), On significance of the least significant bits for differential privacy.
    """

    name = "low_order_bits"
    description = "the whole secret, by numbers without noise or with floating-point noise"
    needs = ("numbers", "candidate_numbers")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="the whole secret",
        knowledge="every candidate's own numbers",
        power="looks at every bit of the released numbers",
        reference="Mironov 2012",
        cost="up to 512 numbers against each candidate a round",
    )

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        own = np.asarray(game.candidate_numbers, dtype=np.float64)
        telling = np.flatnonzero(np.ptp(own, axis=0) > 0)[:_MOST_NUMBERS]
        own = own[:, telling]

        def named(played: Round) -> int:
            seen = np.asarray(game.numbers(played.released), dtype=np.float64)[telling]
            return _guess(own, seen, played.posterior)

        return tally_names(self.name, "naming the subset", game, n_trials, seed, named)


def _guess(own: Floats, seen: Floats, posterior: Floats) -> int:
    left = posterior > 0
    bare = left & (own == seen).any(axis=1)
    if bare.any():
        left = bare
    unexplained = np.where(left, _unexplained(own, seen), np.inf)
    left &= unexplained == unexplained.min()
    return int(np.argmax(np.where(left, posterior, -1.0)))


def _unexplained(own: Floats, seen: Floats) -> NDArray[np.intp]:
    """Return how many of numbers seen are no sum of a candidate's own one and any double; (m,)."""
    noise = seen - own
    hit = own + noise == seen
    for side in (np.inf, -np.inf):
        hit |= own + np.nextafter(noise, side) == seen
    return np.asarray((~hit).sum(axis=1))
