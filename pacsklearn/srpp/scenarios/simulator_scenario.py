"""The secret is whatever a simulator can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, final

import numpy as np

from pacsklearn._public_path import public_path
from pacsklearn._validation import check_integer
from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.checks import described_pairs, listed, pair_indices
from pacsklearn.srpp.scenarios.scenario import CONFIDENCE, Scenario, SecretColumn, World, Worlds


@final
class SimulatedWorld(World):
    """One simulated table, drawn anew from its seed each time: tables are never all in memory.

    Parameters
    ----------
    sample : callable
        ``sample(secret, prior, rng)`` returning ``(X, y)``.
    secret, prior : object
    seed : tuple of int
    """

    def __init__(
        self, sample: Callable[..., Any], secret: Any, prior: Any, seed: tuple[int, ...]
    ) -> None:
        self._sample, self._secret, self._prior, self._seed = sample, secret, prior, seed

    def drawn(self) -> Any:
        """Return what the simulator returns."""
        return self._sample(self._secret, self._prior, np.random.default_rng(list(self._seed)))

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        rows, target = self.drawn()
        return (rows if hasattr(rows, "shape") else np.asarray(rows)), target


_LIMIT = (
    "Tables that are not drawn from the simulator's laws: how well it stands for the table is not "
    "part of the promise."
)


@final
@dataclass(frozen=True)
class SimulatorScenario(Scenario):
    """Hide a secret of the table, given what tables a simulator draws for each secret.

    What is released is computed on the table. Noise, clipping and the form of the model follow
    from simulated tables alone, before the table is looked at, so nobody has to say which secret
    is true.

    Parameters
    ----------
    sample : callable
        ``sample(secret, prior, rng)`` returning ``(X, y)``; ``y`` may be None. The n-th draws of
        all secrets get equal generators: what they draw alike costs no noise.
    secrets : sequence
        What it can be asked for.
    priors : sequence, default=("prior",)
    pairs : list of (secret, secret), optional
        Secrets to be hard to tell apart; all pairs when not given.
    n_draws : int, default=1000
        Tables drawn for each secret and prior.
    seed : int, default=0
        Public seed of the draws.
    about : str, default="a property of the data"
        The secret in plain words, for the guarantee.
    confidence : float, default=0.999999
        Probability, over the draws, that the promise holds.

    Notes
    -----
    *Guarantee.* For tables drawn as the simulator draws them, with the confidence printed. How
    well it stands for what could have been is the simulator's business. ``sample`` must not use
    the private table: then the noise would tell about it.
    """

    sample: Callable[[Any, Any, np.random.Generator], tuple[Any, Any]]
    secrets: Sequence[Any]
    priors: Sequence[Any] = ("prior",)
    pairs: Iterable[tuple[Any, Any]] | None = None
    n_draws: int = 1000
    seed: int = 0
    about: str = "a property of the data"
    confidence: float = CONFIDENCE

    redrawn = False
    releases = "what was fitted on the table, clipped to what the simulated tables give"
    not_covered = (_LIMIT,)

    def __post_init__(self) -> None:
        listed("secrets", self.secrets)
        listed("priors", self.priors)

    @property
    def protects(self) -> str:
        words = f"{self.about}: {', '.join(map(str, self.secrets))}"
        return "".join(each if each.isprintable() else " " for each in words)

    @property
    def description(self) -> str:
        pairs = described_pairs(self.pairs)
        named = self.sample if hasattr(self.sample, "__qualname__") else type(self.sample)
        sample = ".".join(public_path(named))
        return (
            f"SimulatorScenario({sample}, secrets={list(map(repr, self.secrets))}, "
            f"priors={list(map(repr, self.priors))}, pairs={pairs}, n_draws={self.n_draws}, "
            f"seed={self.seed})"
        )

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None) -> Worlds:
        n = check_integer(name="n_draws", value=self.n_draws, minimum=1)
        seed = check_integer(name="seed", value=self.seed, minimum=0)
        if not _takes_three(self.sample):
            raise ScenarioError("sample must be callable: sample(secret, prior, rng) -> (X, y).")
        secrets, priors = list(self.secrets), list(self.priors)
        if len(secrets) < 2 or not priors:
            raise ScenarioError(
                f"A simulator needs two secrets and one prior at least, got {len(secrets)} and "
                f"{len(priors)}."
            )
        # No number of the secret in the seed: coupled draws share all that they draw alike.
        draws = [
            [SimulatedWorld(self.sample, each, prior, (seed, j, k)) for k in range(n)]
            for each in secrets
            for j, prior in enumerate(priors)
        ]
        _check_form(first for first, *_ in draws)
        return Worlds.drawn(
            draws,
            list(map(str, priors)),
            secrets=tuple(map(str, secrets)),
            pairs=pair_indices(self.pairs, secrets),
            values=tuple(secrets),
        )


def _takes_three(sample: Any) -> bool:
    """Return whether something can be called as a simulator is; some built-ins do not say."""
    try:
        return bool(signature(sample).bind(None, None, None))
    except TypeError:
        return False
    except ValueError:
        return True


def _check_form(drawn: Iterable[SimulatedWorld]) -> None:
    """Refuse a simulator whose first tables are no tables, or of several forms."""
    forms = set()
    for world in drawn:
        sample: Any = world.drawn()
        if not isinstance(sample, tuple) or len(sample) != 2:
            raise ScenarioError(
                "sample must return (X, y), with None for a missing y, got an object of type "
                f"{type(sample).__name__}."
            )
        X, y = sample
        if np.ndim(X) != 2 or np.shape(X)[0] == 0:
            raise ScenarioError(
                f"sample must return a table with rows, got an array of shape {np.shape(X)}."
            )
        if y is not None and np.shape(y)[:1] != np.shape(X)[:1]:
            raise ScenarioError("sample must return one target a row, or None for all of them.")
        forms.add((np.shape(X)[1], y is None))
    if len(forms) > 1:
        raise ScenarioError(
            "sample must return tables of one form for all secrets and priors: as many columns, "
            "and targets for all or for none."
        )
