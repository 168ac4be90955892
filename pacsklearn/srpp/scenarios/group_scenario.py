"""The secret is which group the released model is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import brief, check_integer
from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.checks import (
    class_codes,
    described_pairs,
    numbers,
    pair_indices,
    secret_codes,
)
from pacsklearn.srpp.scenarios.scenario import RowWorld, Scenario, SecretColumn, Worlds


@final
@dataclass(frozen=True)
class GroupScenario(Scenario):
    """Hide which group of rows a model was fitted on.

    The data sets of a group are resampled from its rows, with replacement and within each class.
    One of the true group's is drawn in secret and the model fitted on it is released, so that it
    is hard to tell from the models of the other groups. ``fit`` is told the true group:
    ``fit(X, y, secret=column, realized=group)``.

    Parameters
    ----------
    pairs : list of (value, value), optional
        Groups to be hard to tell apart; all pairs when not given.
    n_draws : int, default=16
        Data sets of each group. With 1 a group stands for its rows as they are: the adversary is
        then assumed to know every group's model.
    sizes : sequence of float, default=(1.0,)
        One prior each: size of a data set as a share of its group's size. The release is made
        under the first.
    seed : int, default=0
        Public seed of the resampling.

    Notes
    -----
    *Guarantee.* Exact for an adversary who believes that the model was fitted on one of the
    enumerated data sets of some group, each equally likely within the group; every fit draws its
    own. Source: srpp, section 6.1 (attribute privacy).
    """

    name = "group"
    pairs: Iterable[tuple[Any, Any]] | None = None
    n_draws: int = 16
    sizes: Sequence[float] = (1.0,)
    seed: int = 0

    stated = True
    protects = "which group of rows the released model is about"

    @property
    def releases(self) -> str:
        if self.n_draws == 1:
            return "the model fitted on the rows of one group"
        return "the model fitted on one data set drawn in secret from the rows of one group"

    @property
    def description(self) -> str:
        pairs = described_pairs(self.pairs)
        return (
            f"GroupScenario(pairs={pairs}, n_draws={self.n_draws}, sizes={tuple(self.sizes)}, "
            f"seed={self.seed})"
        )

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None) -> Worlds:
        check_integer(name="n_draws", value=self.n_draws, minimum=1)
        check_integer(name="seed", value=self.seed, minimum=0)
        sizes = numbers(self.sizes)
        if not sizes or not all(0 < size <= 10 for size in sizes):
            raise ScenarioError(
                f"sizes must be numbers above 0 and at most 10 (1.0 for a group's own size), got "
                f"{brief(self.sizes)}."
            )
        groups, codes = secret_codes(secret, X.shape[0], "GroupScenario")
        lonely = int(np.sum(np.bincount(codes, minlength=len(groups)) < 2))
        if lonely:
            raise ScenarioError(
                f"{lonely} of the {len(groups)} groups have a single record: a model of one would "
                "be about one row. Leave it out, merge it with another group, or use "
                "PrevalenceScenario."
            )
        classes = class_codes(y, X.shape[0])
        draws: list[list[RowWorld]] = []
        for i in range(len(groups)):
            rows = np.flatnonzero(codes == i)
            for j, size in enumerate(sizes):
                # A stream for each: one more size leaves the data sets of the others as they are.
                generator = np.random.default_rng([self.seed, i, j])
                own = [RowWorld(rows)]
                if self.n_draws > 1 or size != 1:
                    own = [
                        RowWorld(_resampled(rows, classes[rows], size, generator))
                        for _ in range(self.n_draws)
                    ]
                draws.append(own)
        return Worlds.drawn(
            draws,
            [f"data sets of {size:g} times a group's size" for size in sizes],
            secrets=tuple(map(str, groups)),
            pairs=pair_indices(self.pairs, groups),
            values=tuple(groups),
        )


def _resampled(
    rows: NDArray[np.int64],
    classes: NDArray[np.int64],
    size: float,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw rows with replacement within each class, which keeps its share."""
    parts = [rows[classes == label] for label in np.unique(classes)]
    return np.concatenate([generator.choice(own, max(1, round(size * own.size))) for own in parts])
