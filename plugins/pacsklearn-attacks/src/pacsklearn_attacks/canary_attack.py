"""Rows that are put in to be found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn.audit.attack import AttackResult, InsertingAttack, ThreatModel
from pacsklearn.audit.game import Game
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn_attacks.inserted_rows import appended, dense_table

# Standard deviations from the mean, in every feature.
_DISTANCE = 5.0


@final
class CanaryAttack(InsertingAttack):
    """Was an outlier used that was put among the rows for this purpose.

    An audit of real rows says how the rows at hand fare. A canary is as visible as a row can be:
    far out in every feature, with a random label. The mechanism is replayed with canaries among
    its rows, so that its noise is calibrated with them, and has to hide them as well.

    Attributes
    ----------
    n_canaries : int
        Rows that are put in; the least hidden of them is attacked.
    n_pilot : int
        Rounds played beforehand, to choose it.

    Notes
    -----
    The attack on the chosen canary is :class:`OptimalMembershipAttack`. On a game without canaries
    all units are attacked alike.
    """

    name = "canaries"
    description = "the membership of outliers that are put in to be found"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="membership of an outlier",
        knowledge="all rows and candidates",
        power="puts outliers among the rows, then looks at the release",
        reference="Carlini et al. 2019; Nasr et al. 2021",
        cost="a replay with the outliers; 400 rounds beforehand",
    )

    n_canaries: ClassVar[int] = 8
    n_pilot: ClassVar[int] = 200

    def insert(
        self, estimator: Any, X: Any, y: Any, groups: Any, seed: int
    ) -> tuple[Any, Any, Any, tuple[int, ...]]:
        """Return the universe with canaries at its end.

        Parameters
        ----------
        estimator : estimator
            Says whether ``y`` holds classes.
        X, y, groups : array-likes
            Checked; ``X`` dense numbers.
        seed : int

        Returns
        -------
        X, y, groups
        units : tuple of int
            Units of privacy that are canaries.

        Raises
        ------
        ValueError
            When ``X`` is not a dense table of numbers.
        """
        count = self.n_canaries
        generator = np.random.default_rng(seed)
        table = dense_table(X, self.name)
        signs = generator.choice([-1.0, 1.0], (count, table.shape[1]))
        far = np.nanmean(table, axis=0) + _DISTANCE * np.nanstd(table, axis=0) * signs
        return appended(X, y, groups, far, _targets(estimator, y, count, generator))

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        canaries = getattr(game, "canaries", ())
        unit = None
        # Two streams: the canary is chosen on rounds that are not counted.
        choice, attack = np.random.SeedSequence(seed).generate_state(2)
        if canaries and game.members is not None:
            generator = np.random.default_rng(choice)
            own = game.members[:, list(canaries)].astype(np.float64)
            likely = np.stack([game.play(generator).posterior for _ in range(self.n_pilot)]) @ own
            unit = int(canaries[int(np.argmax(np.maximum(likely, 1 - likely).mean(axis=0)))])
        result = OptimalMembershipAttack(unit, self.n_pilot).run(game, n_trials, int(attack))
        facts = (("canaries", str(len(canaries))), *result.details)
        return replace(result, attack=self.name, details=facts)


def _targets(estimator: Any, y: Any, count: int, generator: np.random.Generator) -> Any:
    """Return the targets of the canaries: classes in turn, or numbers that are far off."""
    if y is None:
        return None
    known = np.asarray(y)
    if is_classifier(estimator) or known.dtype.kind not in "fiu":
        classes = np.unique(known)
        more = generator.permutation(classes[np.arange(count) % len(classes)])
    else:
        size = (count, *known.shape[1:])
        more = known.mean(axis=0) + _DISTANCE * known.std(axis=0) * generator.choice([-1, 1], size)
    return more
