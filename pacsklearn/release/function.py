"""A private value of any deterministic function of the secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.candidates.function_values import FunctionValues, function_name, function_values
from pacsklearn.candidates.outputs import observe
from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.metric import as_metric
from pacsklearn.core.one_sided_law import ONE_SIDED, OneSidedLaw
from pacsklearn.core.release import Release
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.noise.one_sided import OneSidedBackend
from pacsklearn.plugin import registry
from pacsklearn.plugin.catalogue import unregistered_provenance
from pacsklearn.release.procedure import ReleaseProcedure, chosen_backend

__all__ = ["candidate_values", "release_value"]


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


def release_value(
    procedure: ReleaseProcedure,
    function: Callable[..., Any],
    X: Any,
    y: Any,
    *,
    budget: float | None,
    noise: Any,
    metric: Any,
) -> Release:
    """One step of a session; the arguments are those of ``PrivacySession.release_function``."""
    target = procedure.check(budget)
    one_sided = isinstance(noise, OneSidedBackend) or (
        isinstance(noise, str) and noise == ONE_SIDED
    )
    if one_sided and metric is not None:
        raise ValueError(
            f"metric must be None with noise={ONE_SIDED!r}: its cost is the mean padding."
        )
    name = function_name(function)
    if one_sided:
        return _padded(procedure, function, X, y, target, name)
    plugins = registry()
    noise = chosen_backend(noise, procedure.criterion)
    backend, cost = plugins.noise_backend(noise), as_metric(metric)
    provenance = (plugins.provenance("noise_backend", noise),)
    values = candidate_values(function, procedure.space, X, y)
    procedure.warn_of_few(values.vectors.shape[1])
    law, event, observed = procedure.take(
        lambda belief: backend.calibrate(Support(values.vectors, belief), target, cost),
        lambda law: procedure.event(
            "function",
            law,
            values.vectors.shape[1],
            0 if law.is_noiseless else law.dimension,
            provenance,
        ),
        lambda law: observe(law, procedure.secret.index, procedure.secret.sampler),
    )
    guarantee = procedure.guarantee_of(
        target.budget,
        law,
        noiseless=law.is_noiseless,
        released=(f"value of {name}",),
        public=("the function", "shape of its value"),
        provenance=provenance,
    )
    value = values.restore(law.decode(observed))
    return Release(value, guarantee, event, law.noise_power, law.released_power)


def _padded(
    procedure: ReleaseProcedure,
    function: Callable[..., Any],
    X: Any,
    y: Any,
    target: Target,
    name: str,
) -> Release:
    if target.criterion is not None:
        raise ValueError(
            f"noise={ONE_SIDED!r} bounds mutual information; leave criterion out, or use "
            "noise='criterion'."
        )
    backend = OneSidedBackend()
    provenance = (replace(unregistered_provenance(backend), name=ONE_SIDED),)
    values = candidate_values(function, procedure.space, X, y)
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
    )
    guarantee = procedure.guarantee_of(
        target.budget,
        law,
        noiseless=law.is_noiseless and law.bound >= procedure.space.entropy,
        released=(f"value of {name}",),
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
