"""A private value of any deterministic function of the secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.noise.one_sided import OneSidedBackend
from pacsklearn.kernel.noise.one_sided_law import ONE_SIDED, OneSidedLaw
from pacsklearn.kernel.outputs.function_values import FunctionValues, function_name, function_values
from pacsklearn.kernel.outputs.metric import Metric, as_metric
from pacsklearn.kernel.outputs.outputs import observe
from pacsklearn.kernel.plugins.discovery import unregistered_provenance
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.procedure import ReleaseProcedure, chosen_backend
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace


def candidate_values(
    function: Callable[..., Any], space: SecretSpace | CandidateSpace, X: Any, y: Any
) -> FunctionValues:
    """Value for each candidate: of the candidate itself, or of fresh copies of its rows."""

    def inputs(index: int) -> tuple[Any, ...]:
        if isinstance(space, CandidateSpace):
            return (space.candidates[index],)
        columns = [X] if y is None else [X, y]
        return tuple(safe_indexing(part, space.rows(index)) for part in columns)

    return function_values(function, inputs, space.n_candidates)


@final
@dataclass(frozen=True, eq=False, repr=False)
class FunctionPlan:
    """A release of a function's value, up to what needs the secret; secret material."""

    values: FunctionValues
    backend: NoiseBackend
    cost: Metric
    target: Target
    provenance: tuple[Provenance, ...]
    name: str

    public = ("the function", "shape of its value")

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        space: SecretSpace | CandidateSpace,
        X: Any,
        y: Any,
        target: Target,
        noise: Any = "auto",
        metric: Any = None,
    ) -> Self:
        """Evaluate the function on every candidate, once the plugins are known to be there."""
        values = partial(candidate_values, function, space, X, y)
        return cls.over(values, function_name(function), target, noise, metric)

    @classmethod
    def over(
        cls,
        evaluated: Callable[[], FunctionValues],
        name: str,
        target: Target,
        noise: Any = "auto",
        metric: Any = None,
    ) -> Self:
        """Release of values that were or will be computed, called ``name``."""
        plugins, noise = registry(), chosen_backend(noise, target.criterion)
        backend, cost = plugins.noise_backend(noise), as_metric(metric)
        provenance = (plugins.provenance("noise_backend", noise),)
        return cls(evaluated(), backend, cost, target, provenance, name)

    def calibrate(self, belief: Floats) -> NoiseLaw:
        """Law under a belief."""
        support = Support(self.values.vectors, belief)
        return self.backend.calibrate(support, self.target, self.cost)

    @property
    def n_outputs(self) -> int:
        """Length of the released vector."""
        return int(self.values.vectors.shape[1])

    @property
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""
        return (f"value of {self.name}",)

    def value(self, vector: Floats) -> Any:
        """Value in the function's shape."""
        return self.values.restore(vector)


def release_value(
    procedure: ReleaseProcedure,
    function: Callable[..., Any],
    X: Any,
    y: Any,
    *,
    budget: float | None,
    noise: Any,
    metric: Any,
    certify: bool = True,
) -> Release:
    """One step of a session; the arguments are those of ``PrivacySession.release_function``."""
    target = procedure.check(budget)
    # Before any metric is read: padding has a cost of its own, and takes none.
    one_sided = isinstance(noise, OneSidedBackend) or (
        isinstance(noise, str) and noise == ONE_SIDED
    )
    if one_sided and metric is not None:
        raise ValueError(
            f"metric must be None with noise={ONE_SIDED!r}: its cost is the mean padding."
        )
    if one_sided:
        return _padded(procedure, function, X, y, target, certify=certify)
    plan = FunctionPlan.of(function, procedure.space.listed(), X, y, target, noise, metric)
    return take_function(procedure, plan, certify=certify)


def take_function(
    procedure: ReleaseProcedure, plan: FunctionPlan, *, certify: bool = True
) -> Release:
    """Charge and release what was planned."""
    procedure.warn_of_few(plan.n_outputs)
    law, event, observed = procedure.take(
        plan.calibrate,
        lambda law: procedure.event(
            "function",
            law,
            plan.n_outputs,
            0 if law.is_noiseless else law.dimension,
            plan.provenance,
        ),
        lambda law: observe(law, procedure.secret.index, procedure.secret.sampler),
        certify=certify,
    )
    guarantee = procedure.guarantee_of(
        plan.target.budget,
        law,
        noiseless=law.is_noiseless,
        released=plan.released,
        public=plan.public,
        provenance=plan.provenance,
    )
    return Release.under(law, plan.value(law.decode(observed)), guarantee, event)


def _padded(
    procedure: ReleaseProcedure,
    function: Callable[..., Any],
    X: Any,
    y: Any,
    target: Target,
    *,
    certify: bool,
) -> Release:
    if target.criterion is not None:
        raise ValueError(
            f"noise={ONE_SIDED!r} bounds mutual information; leave criterion out, or use "
            "noise='criterion'."
        )
    backend = OneSidedBackend()
    provenance = (replace(unregistered_provenance(backend), name=ONE_SIDED),)
    values = candidate_values(function, procedure.space.listed(), X, y)
    law, event, level = procedure.take(
        lambda belief: backend.calibrate(Support(values.vectors, belief), target),
        lambda law: procedure.event(
            "function",
            law,
            values.vectors.shape[1],
            0 if law.is_noiseless else 1,
            provenance,
        ),
        lambda law: procedure.secret.sampler.index(law.shares(procedure.secret.index)),
        certify=certify,
    )
    guarantee = procedure.guarantee_of(
        target.budget,
        law,
        noiseless=law.is_noiseless and law.bound >= procedure.space.entropy,
        released=(f"value of {function_name(function)}",),
        public=("the function", "the levels that values are padded to"),
        provenance=provenance,
    )
    guarantee = replace(
        guarantee,
        details=(*guarantee.details, ("padding", _padding_text(law))),
    )
    power = law.padding_power
    return Release(law.decode(level), guarantee, event, power, power)


def _padding_text(law: OneSidedLaw) -> str:
    return (
        f"{law.expected_padding:.6g} on average ({law.padding.method}); "
        f"{law.bucket_padding:.6g} with the best buckets, {law.constant_padding:.6g} up to the "
        "largest value"
    )
