"""Games on which an attack is tried: one that keeps its promise, some with a planted leak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.audit.game import CandidateGame, Game, Round
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.belief import update_belief
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_space import balanced_space

_CANDIDATES, _UNITS, _QUERIES = 16, 24, 8
_BUDGET = 1 / 4


@final
@dataclass(frozen=True, eq=False)
class AttackGames:
    """What :func:`~pacsklearn.testing.check_attack` has an attack play.

    Parameters
    ----------
    sound : Game
        Something leaks, and the bound holds.
    silent : Game
        As ``sound``, with nothing released; blind guessing is all there is.
    skewed : Game
        Nothing released, and a prior under which some candidates are likelier.
    leaks : mapping of str to Game
        Broken mechanisms with the bound of ``sound``, by what is broken.
    """

    sound: Game
    silent: Game
    skewed: Game
    leaks: Mapping[str, Game]


def example_games(seed: int = 0) -> AttackGames:
    """Return games of private answers to eight queries about sixteen candidates, sound and broken.

    Parameters
    ----------
    seed : int, default=0
        Public seed of the candidates and of what they answer.
    """
    generator = np.random.default_rng(seed)
    space = balanced_space(_UNITS, n_subsets=_CANDIDATES, seed=seed)
    halves = [generator.permutation(_CANDIDATES) % 2 for _ in range(_QUERIES - 1)]
    # The first query is the one that must not be answered without noise.
    codes = np.stack([np.arange(_CANDIDATES), *halves]).astype(np.uint8)
    sound = _Answers(space, codes, _BUDGET)
    agreed = np.zeros((1, _CANDIDATES), dtype=np.uint8)
    weights = generator.permutation(1.0 + np.arange(_CANDIDATES))
    uneven = replace(space, weights=weights / weights.sum())
    return AttackGames(
        sound=sound,
        silent=_Answers(space, agreed, _BUDGET),
        skewed=_Answers(uneven, agreed, _BUDGET),
        leaks={
            "noise scaled by 0.05": replace(sound, noise_factor=0.05),
            "a secret drawn anew for each query": replace(sound, redraws=True),
            "an answer released without noise": replace(sound, exact_row=0),
        },
    )


@final
@dataclass(eq=False)
class _Answers(CandidateGame):
    """Plain Algorithm 1 over a table of labels, one step a row, with places to break it.

    The adversary knows how it is broken: her posterior is by the noise that is really drawn, while
    the mechanism calibrates to the belief it thinks she has.
    """

    space: SecretSpace
    codes: NDArray[np.uint8] = field(repr=False)
    budget: float
    noise_factor: float = 1.0
    redraws: bool = False
    exact_row: int | None = None

    def __post_init__(self) -> None:
        super().__init__(self.space, self.budget)

    def play(self, generator: np.random.Generator) -> Round:
        drawn = [self._draw(generator)]
        thought = known = np.log(self.space.weights)
        released = []
        for number, row in enumerate(self.codes):
            if self.redraws and number:
                drawn.append(self._draw(generator))
            factor = 0.0 if number == self.exact_row else self.noise_factor
            noise = np.rint(factor * generator.normal(0.0, LATTICE_SCALE, row.size)).astype(int)
            step = self.budget / len(self.codes)
            outcome = LabelEngine().answer(row[None], drawn[-1], thought, step, noise)
            released.append((int(outcome.answers[0]), float(outcome.margins[0])))
            gain = np.full(row.size, -np.inf)
            np.subtract(
                outcome.log_belief, thought, out=gain, where=np.isfinite(outcome.log_belief)
            )
            thought = outcome.log_belief
            exact = np.where(row == row[drawn[-1]], 0.0, -np.inf)
            known = update_belief(known, gain / factor**2 if factor else exact)
        # Where secrets change, no posterior of one secret is right; this is what a session keeps.
        return Round(drawn[-1], np.exp(known), tuple(released), tuple(drawn[:-1]))

    def _draw(self, generator: np.random.Generator) -> int:
        return int(generator.choice(_CANDIDATES, p=self.space.weights))
