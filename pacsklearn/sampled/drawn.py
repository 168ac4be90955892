"""Releases about one secret subset that is drawn from all balanced ones, planned together."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.fit_report import stage
from pacsklearn.kernel.outputs.function_values import (
    FunctionValues,
    function_name,
    function_value,
    function_values,
)
from pacsklearn.kernel.outputs.metric import Metric, as_metric
from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.account import Secret
from pacsklearn.kernel.release.parameters import ReleaseChoices
from pacsklearn.kernel.release.plan import Plan, PlannedSet, not_releasable
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import public_facts
from pacsklearn.sampled.confident import confident_law, confident_provenance
from pacsklearn.sampled.drawn_subsets import DrawnSubsets, Members
from pacsklearn.sampled.drawn_terms import DrawnTerms
from pacsklearn.sampled.sampled_law import SampledLaw
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.sampled.trial_outputs import SubsetMap, warn_of_trials, within

Integers = NDArray[np.int64]

# The secret's fit may take so many times the first trial's, and at least so many seconds.
_SLOWER, _LEAST_SECONDS = 20.0, 10.0


@final
@dataclass(frozen=True, eq=False, repr=False)
class _TrialValues:
    """What trials gave: first ones for the noise's shape, further ones for its size."""

    calibration: Floats
    certificate: Floats
    n_failed: int

    @classmethod
    def of(cls, calibration: Floats, further: Sequence[Floats | None]) -> Self:
        """With the centre in the place of what could not be released, as for the secret."""
        centre = calibration.mean(axis=0)
        certificate = np.stack([centre if one is None else one for one in further])
        return cls(calibration, certificate, sum(one is None for one in further))


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnOnce:
    """The subset that some planned releases are about; drawn when the first of them is.

    Parameters
    ----------
    drawn : DrawnSubsets
    sizes : SampledSubsets
    sampler : Sampler
    n_planned : int
    """

    drawn: DrawnSubsets
    sizes: SampledSubsets
    sampler: Sampler
    n_planned: int

    @cached_property
    def members(self) -> Members:
        """The secret."""
        return self.drawn.secret(self.sampler)

    @property
    def gamma(self) -> float:
        """Probability that one law's bound does not hold: together they have what is stated."""
        return self.sizes.gamma / self.n_planned


class DrawnPlan(Plan):
    """A release up to the secret's own fit."""

    kind = "sampled"
    secret: DrawnOnce
    cost: Metric
    trials: _TrialValues
    slowest: float

    @abstractmethod
    def vector(self, members: Members) -> Floats | None:
        """Vector of a subset; None where it cannot be released."""

    @property
    def n_outputs(self) -> int:
        return int(self.trials.calibration.shape[1])

    def calibrate(self, belief: Floats) -> SampledLaw:
        with stage("calibration"):
            return confident_law(
                self.trials.calibration,
                self.trials.certificate,
                self.target,
                gamma=self.secret.gamma,
                metric=self.cost,
                guard=self.secret.sizes.guard,
            )

    def observe(self, law: SampledLaw, secret: Secret) -> Integers:
        with silence():  # whether anything is warned about or printed here is about the secret
            # Measured on a trial: a limit that follows the secret's own fit depends on it.
            limit = self.secret.sizes.time_limit or max(_LEAST_SECONDS, _SLOWER * self.slowest)
            vector = within(limit, partial(self.vector, self.secret.members))
            # The centre, as any other value: that a fit failed or was late may not show.
            point = law.point(law.span.centre if vector is None else vector)
            return point + secret.sampler.noise(law.dimension)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnParameters(DrawnPlan):
    """A private model."""

    subsets: SubsetMap
    secret: DrawnOnce
    target: Target
    cost: Metric
    trials: _TrialValues
    provenance: tuple[Provenance, ...]
    slowest: float

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        secret: DrawnOnce,
        target: Target,
        options: FitOptions,
        choices: ReleaseChoices,
    ) -> Self:
        """Fit all trials."""
        plugins, canonicalizer = registry(), choices.canonicalizer
        chosen = plugins.canonicalizer(canonicalizer, estimator)
        automatic = isinstance(canonicalizer, str) and canonicalizer == "auto"
        used = plugins.provenance("canonicalizer", chosen if automatic else canonicalizer)
        drawn, sizes = secret.drawn, secret.sizes
        subsets, calibration = SubsetMap.of(
            estimator, X, y, drawn, sizes.n_calibration, options, chosen
        )
        start = sizes.n_calibration
        with stage("fits"):
            began = time.perf_counter()
            subsets.of_subset(drawn.trial(1))
            slowest = time.perf_counter() - began
            further = subsets.of_trials(start, start + sizes.n_certificate)
        trials = _TrialValues.of(calibration, further)
        warn_of_trials(type(estimator).__name__, trials.n_failed, sizes.n_certificate)
        with stage("calibration"):
            cost = subsets.outputs.metric(choices.metric)
        return cls(subsets, secret, target, cost, trials, (confident_provenance(), used), slowest)

    def vector(self, members: Members) -> Floats | None:
        return self.subsets.of_subset(members)

    def value(self, law: SampledLaw, observed: Integers) -> Any:
        return self.subsets.outputs.decode(law.decode(observed))

    @property
    def released(self) -> tuple[str, ...]:
        return self.subsets.outputs.canonicalizer.noised

    @property
    def public(self) -> tuple[str, ...]:
        return public_facts(self.subsets.outputs.layout)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnFunction(DrawnPlan):
    """A private value of a function of the rows."""

    on_subset: Callable[[Members], Floats | None]
    values: FunctionValues
    name: str
    secret: DrawnOnce
    target: Target
    cost: Metric
    trials: _TrialValues
    slowest: float
    provenance: tuple[Provenance, ...]

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        X: Any,
        y: Any,
        secret: DrawnOnce,
        target: Target,
        metric: Any = None,
    ) -> Self:
        """Evaluate the function on all trials."""
        columns = [X] if y is None else [X, y]
        drawn, sizes = secret.drawn, secret.sizes

        def own(members: Members) -> tuple[Any, ...]:
            rows = drawn.rows(members)
            return tuple(safe_indexing(part, rows) for part in columns)

        def of_trial(number: int) -> tuple[Any, ...]:
            return own(drawn.trial(number))

        began = time.perf_counter()
        values = function_values(function, of_trial, sizes.n_calibration)
        slowest = (time.perf_counter() - began) / sizes.n_calibration

        def on_subset(members: Members) -> Floats | None:
            def value() -> Floats | None:
                output = function_value(function, own(members))
                return output.reshape(-1) if output.shape == values.shape else None

            return attempt(value, fits=True).value

        start = sizes.n_calibration
        further = [
            on_subset(drawn.trial(number)) for number in range(start, start + sizes.n_certificate)
        ]
        trials, name = _TrialValues.of(values.vectors, further), function_name(function)
        warn_of_trials(name, trials.n_failed, sizes.n_certificate)
        used = (confident_provenance(),)
        cost = as_metric(metric)
        return cls(on_subset, values, name, secret, target, cost, trials, slowest, used)

    def vector(self, members: Members) -> Floats | None:
        return self.on_subset(members)

    def value(self, law: SampledLaw, observed: Integers) -> Any:
        return self.values.restore(law.decode(observed))

    @property
    def released(self) -> tuple[str, ...]:
        return (f"value of {self.name}",)

    @property
    def public(self) -> tuple[str, ...]:
        return ("the function", "shape of its value")


def plan_drawn(
    procedure: ReleaseProcedure,
    releases: Sequence[Any],
    X: Any,
    y: Any,
    budgets: Sequence[float] | None,
    noise: Any,
    options: FitOptions,
    **chosen: Any,
) -> PlannedSet:
    """Plan estimators and functions of the rows; ``chosen`` are metric and canonicalizer.

    There is no posterior over all subsets to calibrate a later release on, so that there is none.

    Raises
    ------
    BudgetExhaustedError, RuntimeError, ValueError
        Before anything is fitted.
    """
    if not (isinstance(noise, str) and noise in ("auto", "confident")):
        raise ValueError(
            "noise must be 'auto' with secret_space='sampled': only the confident route has a "
            f"bound for a secret that cannot be listed, got {noise!r}."
        )
    terms = procedure.terms
    assert isinstance(terms, DrawnTerms)
    targets = procedure.check_all(len(releases), budgets)
    secret = DrawnOnce(terms.drawn, terms.sizes, procedure.secret.sampler, len(releases))
    plans: list[DrawnPlan] = []
    for number, (one, target) in enumerate(zip(releases, targets, strict=True)):
        if hasattr(one, "fit"):
            choices = ReleaseChoices(**chosen)
            plans.append(DrawnParameters.of(one, X, y, secret, target, options, choices))
        elif callable(one):
            plans.append(DrawnFunction.of(one, X, y, secret, target, **chosen))
        else:
            raise not_releasable(number, one)
    # All laws hold together with the probability that is stated, each with its share.
    return PlannedSet.of(plans, confidence=1 - terms.sizes.gamma, kind="sampled")


def plan_drawn_model(
    procedure: ReleaseProcedure,
    estimator: Any,
    X: Any,
    y: Any,
    choices: ReleaseChoices,
    options: FitOptions,
    budget: float | None = None,
) -> PlannedSet:
    """Plan the release of one model; see :func:`plan_drawn`."""
    if choices.prior is not None:
        raise ValueError(
            "prior_mean and value_range must be None with secret_space='sampled': released models "
            "are not drawn toward a public prior there. Use secret_space='listed'."
        )
    budgets = None if budget is None else [budget]
    chosen = {"metric": choices.metric, "canonicalizer": choices.canonicalizer}
    return plan_drawn(procedure, [estimator], X, y, budgets, choices.noise, options, **chosen)
