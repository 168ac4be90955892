"""A private value of any deterministic function of the secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, final

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.host import stage
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Integers, NoiseLaw, Target
from pacsklearn.kernel.outputs.function_values import FunctionValues, function_name, function_values
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.kernel.release.plan import Plan, chosen_backend
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space, Work


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Work):
    """Values of a function: of fresh copies of a candidate's rows, or of the candidate itself.

    Parameters
    ----------
    function : callable
    X, y : arrays or None
    """

    function: Callable[..., Any]
    X: Any
    y: Any

    def of_rows(self, space: SecretSpace) -> FunctionValues:
        columns = [self.X] if self.y is None else [self.X, self.y]

        def inputs(index: int) -> tuple[Any, ...]:
            return tuple(safe_indexing(part, space.rows(index)) for part in columns)

        return function_values(self.function, inputs, space.n_candidates)

    def of_inputs(self, space: CandidateSpace) -> FunctionValues:
        return function_values(
            self.function, lambda index: (space.candidates[index],), space.n_candidates
        )

    def elsewhere(self, space: Space) -> FunctionValues:
        values: FunctionValues = space.evaluated(self)
        return values


@final
@dataclass(frozen=True, eq=False, repr=False)
class FunctionPlan(Plan):
    """A release of a function's value."""

    values: FunctionValues
    backend: NoiseBackend
    cost: Metric
    target: Target
    provenance: tuple[Provenance, ...]
    name: str

    kind = "function"
    public = ("the function", "shape of its value")

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        space: Space,
        X: Any,
        y: Any,
        target: Target,
        noise: Any = "auto",
        metric: Metric | None = None,
    ) -> Self:
        """Evaluate the function on every candidate, once the plugins are known to be there."""
        values = partial(space.outputs, Evaluations(function, X, y))
        return cls.over(values, function_name(function), target, noise, metric)

    @classmethod
    def over(
        cls,
        evaluated: Callable[[], FunctionValues],
        name: str,
        target: Target,
        noise: Any = "auto",
        metric: Metric | None = None,
    ) -> Self:
        """Return the release of values that were or will be computed, called ``name``."""
        # Before the function runs for every candidate: it may refuse an argument.
        backend, used = chosen_backend(noise, target)
        # It shapes the noise only, and has no part in the bound.
        cost = IdentityMetric() if metric is None else metric
        return cls(evaluated(), backend, cost, target, (used,), name)

    def calibrate(self, belief: Floats) -> NoiseLaw:
        """Return the law under a belief."""
        with stage("calibration"):
            support = self.values.supported(self.values.vectors, belief)
            return self.backend.calibrate(support, self.target, self.cost)

    @property
    def n_outputs(self) -> int:
        """Length of the released vector."""
        return int(self.values.vectors.shape[1])

    @property
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""
        return (f"value of {self.name}",)

    def value(self, law: NoiseLaw, observed: Integers) -> Any:
        """Return the value in the function's shape."""
        return self.values.restore(law.decode(observed))
