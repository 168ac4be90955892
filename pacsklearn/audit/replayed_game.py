"""The releases of a fitted model or of a session, played again with secrets of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.audit.confidence import row_confidences
from pacsklearn.audit.model_numbers import model_numbers
from pacsklearn.audit.parameter_game import LawOrRule, ParameterGame
from pacsklearn.core.game import Game, Round
from pacsklearn.core.secret_space import SecretSpace

__all__ = ["ReplayedGame", "ReplayedRelease"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class ReplayedRelease:
    """One released model, as the curator can compute it for every candidate.

    Parameters
    ----------
    law : NoiseLaw or callable
        Its noise; a callable gets the belief after the releases before.
    vectors : ndarray of shape (m, d)
        Canonical vector of each candidate, without noise.
    decode : callable
        Vector of shape (d,) to fitted model.
    """

    law: LawOrRule
    vectors: Floats = field(repr=False)
    decode: Callable[[Floats], Any] = field(repr=False)


@final
class ReplayedGame(Game):
    """Released models over and over, each round with a fresh secret and fresh noise.

    What a round shows is the released vectors; :meth:`models` turns them into the models that
    would be published.

    Parameters
    ----------
    releases : sequence of ReplayedRelease
        In order; one secret serves all of them.
    space : SecretSpace
    information : float
        Nats that all of them together reveal at most, by the guarantee.
    X, y : array-likes
        The universe; the adversary knows it.
    canaries : tuple of int, default=()
        Units that were put in to be attacked.
    """

    def __init__(
        self,
        releases: Sequence[ReplayedRelease],
        space: SecretSpace,
        *,
        information: float,
        X: Any,
        y: Any = None,
        canaries: tuple[int, ...] = (),
    ) -> None:
        self._releases, self._space = tuple(releases), space
        self._X, self._y = X, y
        self.canaries = tuple(canaries)
        self._game = ParameterGame(
            [release.law for release in self._releases], space, information=information
        )
        self._candidate_numbers: Floats | None = None

    @property
    def prior(self) -> Floats:
        return self._game.prior

    @property
    def members(self) -> NDArray[np.bool_] | None:
        return self._game.members

    @property
    def space(self) -> SecretSpace:
        """Candidates, prior and units."""
        return self._space

    @property
    def information(self) -> float:
        """Nats that a round reveals at most, on average over rounds."""
        return self._game.information

    def bound(self, blind: float) -> float:
        return self._game.bound(blind)

    def play(self, generator: np.random.Generator) -> Round:
        return self._game.play(generator)

    def models(self, released: tuple[Floats, ...]) -> tuple[Any, ...]:
        """Models of a round's vectors."""
        pairs = zip(self._releases, released, strict=True)
        return tuple(release.decode(vector) for release, vector in pairs)

    def confidences(self, released: tuple[Floats, ...]) -> Floats:
        """How sure the released models are of each unit's rows, on average; (n_units,)."""
        models = self.models(released)
        rows = np.mean([row_confidences(model, self._X, self._y) for model in models], axis=0)
        units = self._space.unit_of_row
        if units is None:
            return np.asarray(rows)
        total = np.bincount(units, weights=rows, minlength=self._space.n_units)
        return np.asarray(total / np.bincount(units, minlength=self._space.n_units))

    def numbers(self, released: tuple[Floats, ...]) -> Floats:
        """All numbers that the released models publish."""
        return np.concatenate([model_numbers(model) for model in self.models(released)])

    @property
    def candidate_numbers(self) -> Floats:
        """What :meth:`numbers` would be for each candidate without noise; shape (m, k)."""
        if self._candidate_numbers is None:
            each = zip(*(release.vectors for release in self._releases), strict=True)
            self._candidate_numbers = np.stack([self.numbers(vectors) for vectors in each])
        return self._candidate_numbers
