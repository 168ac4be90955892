"""Releases about one secret subset that is drawn from all balanced ones, planned together."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.ledger import ledger_head
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampled_law import SampledLaw
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
from pacsklearn.kernel.plugins.discovery import unregistered_provenance
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.account import Account
from pacsklearn.kernel.release.parameters import ReleaseChoices
from pacsklearn.kernel.release.planned import not_releasable, planned_targets
from pacsklearn.kernel.release.procedure import check_hidden
from pacsklearn.kernel.release.rehearsal import public_integers
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.release.statement import public_facts
from pacsklearn.sampled.confident import confident_law
from pacsklearn.sampled.drawn_statement import drawn_guarantee
from pacsklearn.sampled.drawn_subsets import DrawnSubsets, Members
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


class DrawnPlan(ABC):
    """A release up to the secret's own fit; secret material."""

    target: Target
    cost: Metric
    trials: _TrialValues
    provenance: tuple[Provenance, ...]
    slowest: float

    @abstractmethod
    def vector(self, members: Members) -> Floats | None:
        """Vector of a subset; None where it cannot be released."""

    @abstractmethod
    def value(self, vector: Floats) -> Any:
        """What is released for a vector."""

    @property
    @abstractmethod
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""

    @property
    @abstractmethod
    def public(self) -> tuple[str, ...]:
        """What is released as it is."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnParameters(DrawnPlan):
    """A private model."""

    subsets: SubsetMap
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
        drawn: DrawnSubsets,
        sizes: SampledSubsets,
        target: Target,
        options: FitOptions,
        choices: ReleaseChoices,
    ) -> Self:
        """Fit all trials."""
        plugins, canonicalizer = registry(), choices.canonicalizer
        chosen = plugins.canonicalizer(canonicalizer, estimator)
        automatic = isinstance(canonicalizer, str) and canonicalizer == "auto"
        provenance = (plugins.provenance("canonicalizer", chosen if automatic else canonicalizer),)
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
        return cls(subsets, target, cost, trials, provenance, slowest)

    def vector(self, members: Members) -> Floats | None:
        return self.subsets.of_subset(members)

    def value(self, vector: Floats) -> Any:
        return self.subsets.outputs.decode(vector)

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
    target: Target
    cost: Metric
    trials: _TrialValues
    slowest: float
    provenance: tuple[Provenance, ...] = ()

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        X: Any,
        y: Any,
        drawn: DrawnSubsets,
        sizes: SampledSubsets,
        target: Target,
        metric: Any = None,
    ) -> Self:
        """Evaluate the function on all trials."""
        columns = [X] if y is None else [X, y]

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
        return cls(on_subset, values, name, target, as_metric(metric), trials, slowest)

    def vector(self, members: Members) -> Floats | None:
        return self.on_subset(members)

    def value(self, vector: Floats) -> Any:
        return self.values.restore(vector)

    @property
    def released(self) -> tuple[str, ...]:
        return (f"value of {self.name}",)

    @property
    def public(self) -> tuple[str, ...]:
        return ("the function", "shape of its value")


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnProcedure:
    """How a session with a drawn secret releases: once, everything that was planned.

    There is no posterior over all subsets to calibrate a later release on, so that there is none.

    Parameters
    ----------
    drawn : DrawnSubsets
    sizes : SampledSubsets
    account : Account
    sampler : Sampler
    lock : lock
    options : FitOptions
    """

    drawn: DrawnSubsets
    sizes: SampledSubsets
    account: Account
    sampler: Sampler
    lock: AbstractContextManager[Any]
    options: FitOptions = field(default_factory=FitOptions)
    allow_exact: bool = False
    _laws: list[SampledLaw] = field(default_factory=list)

    def release(
        self,
        releases: Sequence[Any],
        X: Any,
        y: Any,
        budgets: Sequence[float] | None,
        noise: Any,
        fit_params: Mapping[str, Any] | None = None,
        **chosen: Any,
    ) -> tuple[Release, ...]:
        """Release estimators and functions of the rows; ``chosen`` are metric and canonicalizer.

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
        self._check_first()
        targets = planned_targets(self.account.check, self.account, len(releases), budgets)
        options = replace(self.options, fit_params=fit_params or {})
        plans: list[DrawnPlan] = []
        for number, (one, target) in enumerate(zip(releases, targets, strict=True)):
            known = (one, X, y, self.drawn, self.sizes, target)
            if hasattr(one, "fit"):
                plans.append(DrawnParameters.of(*known, options, ReleaseChoices(**chosen)))
            elif callable(one):
                plans.append(DrawnFunction.of(*known, **chosen))
            else:
                raise not_releasable(number, one)
        return self.take(plans)

    def _check_first(self) -> None:
        if self.account.own.events:
            raise RuntimeError(
                "This session has made its releases: with secret_space='sampled' they are planned "
                "together, because no later one could be calibrated to what the first ones told. "
                "Give all of them to release_planned at once."
            )

    def take(self, plans: Sequence[DrawnPlan]) -> tuple[Release, ...]:
        """Certify the laws, charge their sum, and only then draw the secret and fit it."""
        # A union bound: all laws hold together with the probability that is stated.
        gamma = self.sizes.gamma / len(plans)
        with stage("calibration"):
            laws = [self._law(plan, gamma) for plan in plans]
        used = dict.fromkeys(one for plan in plans for one in plan.provenance)
        provenance = (replace(unregistered_provenance(laws[0]), name=laws[0].backend), *used)
        with self.lock:
            self._check_first()
            for plan, law in zip(plans, laws, strict=True):
                plan.value(law.decode(public_integers(law)))
            # Before the secret is drawn: its own fit may fail, or kill the process.
            described = self._event(laws, plans, provenance)
            if not self.allow_exact:
                check_hidden(replace(self.guarantee(), spent=described.charge))
            event = self.account.charge(described)
            self._laws.extend(laws)
            observed = self._observed(laws, plans)
        guarantee = self.guarantee(plans, provenance)
        return tuple(
            Release.under(law, plan.value(law.decode(one)), guarantee, event)
            for plan, law, one in zip(plans, laws, observed, strict=True)
        )

    def _law(self, plan: DrawnPlan, gamma: float) -> SampledLaw:
        trials = plan.trials
        return confident_law(
            trials.calibration,
            trials.certificate,
            plan.target,
            gamma=gamma,
            metric=plan.cost,
            guard=self.sizes.guard,
        )

    def _event(
        self,
        laws: Sequence[SampledLaw],
        plans: Sequence[DrawnPlan],
        provenance: tuple[Provenance, ...],
    ) -> Event:
        bound = math.fsum(law.bound for law in laws)
        return Event(
            kind="sampled",
            charge=bound,
            unit="nats",
            backend=laws[0].backend,
            bound=bound,
            n_candidates=0,
            n_outputs=sum(plan.trials.calibration.shape[1] for plan in plans),
            n_noisy=sum(law.dimension for law in laws),
            provenance=provenance,
            confidence=1 - self.sizes.gamma,
        )

    def _observed(self, laws: Sequence[SampledLaw], plans: Sequence[DrawnPlan]) -> list[Integers]:
        """What is released of a fresh secret: the only place that knows it."""
        observed = []
        with silence():  # whether anything is warned about or printed here is about the secret
            members = self.drawn.secret(self.sampler)
            for law, plan in zip(laws, plans, strict=True):
                # Measured on a trial: a limit that follows the secret's own fit depends on it.
                limit = self.sizes.time_limit or max(_LEAST_SECONDS, _SLOWER * plan.slowest)
                vector = within(limit, partial(plan.vector, members))
                # The centre, as any other value: that a fit failed or was late may not show.
                point = law.point(law.span.centre if vector is None else vector)
                observed.append(point + self.sampler.noise(law.dimension))
        return observed

    def guarantee(
        self, plans: Sequence[DrawnPlan] = (), provenance: tuple[Provenance, ...] = ()
    ) -> Guarantee:
        """What is promised about what was released, or may be."""
        own = self.account.own
        return drawn_guarantee(
            self.drawn,
            self.sizes,
            self._laws,
            dict.fromkeys(name for plan in plans for name in plan.public),
            budget=math.fsum(plan.target.budget for plan in plans) if plans else own.ceiling,
            spent=own.spent if own.events else own.ceiling,
            released=tuple(dict.fromkeys(name for plan in plans for name in plan.released)),
            not_for_release="" if self.sampler.is_secure else REPRODUCIBLE,
            provenance=provenance,
            ledger_head=ledger_head(self.account.shared),
        )
