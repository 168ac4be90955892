"""The secret is whatever a simulator can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.core.scenario import Law, Scenario, SecretColumn, World, Worlds
from pacsklearn.exceptions import ScenarioError
from pacsklearn.scenarios.checks import pair_indices, true_secret
from pacsklearn.scenarios.data_world import DataWorld
from pacsklearn.scenarios.row_world import RowWorld

__all__ = ["SimulatorScenario"]


@final
@dataclass(frozen=True)
class SimulatorScenario(Scenario):
    """Hide a secret by data sets that a simulator draws for the other secrets.

    The true secret, told by ``fit(X, y, realized=...)``, stands for the rows given; every other
    one for ``n_draws`` simulated data sets under each prior.

    Parameters
    ----------
    sample : callable
        ``sample(secret, prior, rng)`` returning ``(X, y)``; ``y`` may be None.
    secrets : sequence
        What it can be asked for.
    priors : sequence, default=("prior",)
    pairs : iterable of (secret, secret), optional
        Secrets to be hard to tell apart; all pairs when not given.
    n_draws : int, default=16
        Data sets drawn for each secret and prior.
    seed : int, default=0
        Public seed of the draws.
    about : str, default="a property of the data"
        The secret in plain words, for the guarantee.

    Notes
    -----
    *Guarantee.* Exact for an adversary who compares the rows given with the enumerated data sets.
    How well they stand for what could have been is the simulator's business.
    """

    sample: Callable[[Any, Any, np.random.Generator], tuple[Any, Any]]
    secrets: Sequence[Any]
    priors: Sequence[Any] = ("prior",)
    pairs: Iterable[tuple[Any, Any]] | None = None
    n_draws: int = 16
    seed: int = 0
    about: str = "a property of the data"

    @property
    def protects(self) -> str:
        return f"{self.about}: {', '.join(map(str, self.secrets))}"

    @property
    def releases(self) -> str:
        return "the model fitted on the rows given"

    @property
    def description(self) -> str:
        name = getattr(self.sample, "__qualname__", type(self.sample).__qualname__)
        module = getattr(self.sample, "__module__", "")
        pairs = None if self.pairs is None else sorted(map(repr, self.pairs))
        return (
            f"SimulatorScenario({module}.{name}, secrets={list(map(repr, self.secrets))}, "
            f"priors={list(map(repr, self.priors))}, pairs={pairs}, n_draws={self.n_draws}, "
            f"seed={self.seed})"
        )

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None, realized: Any) -> Worlds:
        check_integer(name="n_draws", value=self.n_draws, minimum=1)
        check_integer(name="seed", value=self.seed, minimum=0)
        if not callable(self.sample):
            raise ScenarioError("sample must be callable: sample(secret, prior, rng) -> (X, y).")
        secrets, priors = list(self.secrets), list(self.priors)
        if len(secrets) < 2 or not priors:
            raise ScenarioError(
                f"A simulator needs two secrets and one prior at least, got {len(secrets)} and "
                f"{len(priors)}."
            )
        true = true_secret(realized, secrets, "SimulatorScenario")
        worlds: list[World] = [RowWorld(np.arange(X.shape[0]))]
        laws: list[Law] = [Law(true, j, (0,)) for j in range(len(priors))]
        for i, each in enumerate(secrets):
            if i == true:
                continue
            for j, prior in enumerate(priors):
                generator = np.random.default_rng([self.seed, i, j])
                start = len(worlds)
                worlds += [self._drawn(each, prior, generator, X, y) for _ in range(self.n_draws)]
                laws.append(Law(i, j, tuple(range(start, len(worlds)))))
        return Worlds(
            secrets=tuple(map(str, secrets)),
            priors=tuple(map(str, priors)),
            worlds=tuple(worlds),
            laws=tuple(laws),
            pairs=pair_indices(self.pairs, secrets),
            realized=true,
        )

    def _drawn(
        self, secret: Any, prior: Any, generator: np.random.Generator, X: Any, y: Any
    ) -> DataWorld:
        drawn: Any = self.sample(secret, prior, generator)
        if not isinstance(drawn, tuple) or len(drawn) != 2:
            raise ScenarioError(
                "sample must return (X, y), with None for a missing y, got an object of type "
                f"{type(drawn).__name__}."
            )
        rows, target = drawn
        if np.ndim(rows) != 2 or np.shape(rows)[1] != X.shape[1] or np.shape(rows)[0] == 0:
            raise ScenarioError(
                f"sample must return rows with {X.shape[1]} columns like X, got shape "
                f"{np.shape(rows)}."
            )
        if (target is None) != (y is None) or (
            target is not None and np.shape(target)[:1] != np.shape(rows)[:1]
        ):
            raise ScenarioError("sample must return one target a row when y is given, else None.")
        return DataWorld(rows, target)
