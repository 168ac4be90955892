"""Naming the secret by what is printed beside a release."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.tally import tally_names


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
