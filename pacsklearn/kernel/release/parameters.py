"""A private model: fitted on the secret subset, canonical, noised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.fit_report import stage
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.outputs.outputs import CandidateOutputs, observe
from pacsklearn.kernel.outputs.public_prior import PublicPrior
from pacsklearn.kernel.outputs.universe import check_wrapped
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.individual import information_about_units, with_individual
from pacsklearn.kernel.release.procedure import ReleaseProcedure, chosen_backend
from pacsklearn.kernel.release.rehearsal import public_integers, rehearse
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.release.statement import public_facts
from pacsklearn.kernel.secret.space import RowSpace


@final
@dataclass(frozen=True)
class ReleaseChoices:
    """What a user chooses about a release of parameters.

    Parameters
    ----------
    noise : str or NoiseBackend, default="auto"
    metric : "auto", None, array-like or Metric, default="auto"
    canonicalizer : "auto", str or Canonicalizer, default="auto"
    prior : PublicPrior, optional
        What released regressors are drawn toward.
    """

    noise: Any = "auto"
    metric: Any = "auto"
    canonicalizer: Any = "auto"
    prior: PublicPrior | None = None


def public_prior(estimator: Any, prior_mean: Any, value_range: Any) -> PublicPrior | None:
    """Prior of a user's arguments, for a regressor."""
    if prior_mean is None and value_range is None:
        return None
    prior = PublicPrior.of(prior_mean, value_range)
    if is_regressor(estimator):
        return prior
    if prior is not None and prior.is_stated:
        raise ValueError(
            "prior_mean is for regressors, whose predictions are numbers; "
            f"{type(estimator).__name__} is none. Leave it out."
        )
    return None


class Fittable(Protocol):
    """Candidates that can be fitted, in memory or in passes over a table; secret material."""

    @property
    def space(self) -> RowSpace:
        """What the secret is drawn from."""

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Canonical vectors of all candidates."""


@final
class TakenStep(NamedTuple):
    """A step that was charged and drawn: law, event, integers, and the belief before it."""

    law: NoiseLaw
    event: Event
    observed: NDArray[np.int64]
    belief: NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ParameterPlan:
    """A release of parameters, up to what needs the secret; secret material.

    A session takes it once; a game takes it again and again, with secrets of its own.
    """

    outputs: CandidateOutputs
    space: RowSpace
    backend: NoiseBackend
    cost: Metric
    target: Target
    provenance: tuple[Provenance, ...]
    _first: dict[bytes, NoiseLaw] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        estimator: Any,
        prepare: Callable[[], Fittable],
        target: Target,
        choices: ReleaseChoices,
    ) -> Self:
        """Fit the candidates of ``prepare``, once the plugins are known to be there."""
        check_wrapped(estimator)
        plugins = registry()
        noise, canonicalizer = (
            chosen_backend(choices.noise, target.criterion),
            choices.canonicalizer,
        )
        backend = plugins.noise_backend(noise)
        chosen = plugins.canonicalizer(canonicalizer, estimator)
        automatic = isinstance(canonicalizer, str) and canonicalizer == "auto"
        provenance = (
            plugins.provenance("noise_backend", noise),
            plugins.provenance("canonicalizer", chosen if automatic else canonicalizer),
        )
        candidates = prepare()
        outputs = replace(candidates.outputs(chosen), prior=choices.prior)
        constant = outputs.constant
        if choices.prior is not None and choices.prior.is_stated and constant is None:
            raise ValueError(
                f"prior_mean says nothing about the numbers of {type(estimator).__name__}, which "
                "are released as they come out of the noise; leave it out, use a linear or "
                "additive regressor, or release='responses'."
            )
        with stage("calibration"):
            cost = outputs.metric(choices.metric)
        return cls(outputs, candidates.space, backend, cost, target, provenance)

    def calibrate(self, belief: NDArray[np.float64]) -> NoiseLaw:
        """Law under a belief. That of the first is kept: every round of a game begins with it."""
        # By its bits: a law is that of one belief, and of none that is merely close.
        name = belief.tobytes()
        law = self._first.get(name)
        if law is None:
            with stage("calibration"):
                law = self.backend.calibrate(self.outputs.support(belief), self.target, self.cost)
            if not self._first:
                self._first[name] = law
        return law

    def take(self, procedure: ReleaseProcedure, *, certify: bool = False) -> TakenStep:
        """Calibrate, charge and draw."""
        beliefs = []

        def calibrate(belief: NDArray[np.float64]) -> NoiseLaw:
            beliefs.append(belief)
            return self.calibrate(belief)

        law, event, observed = procedure.take(
            calibrate,
            lambda law: self._event(procedure, law),
            lambda law: observe(law, procedure.secret.index, procedure.secret.sampler),
            rehearse=lambda law: self._rehearse(procedure, law),
            certify=certify,
        )
        return TakenStep(law, event, observed, beliefs[0])

    def guarantee(self, procedure: ReleaseProcedure, law: NoiseLaw) -> Guarantee:
        """Guarantee of the release just taken."""
        return procedure.guarantee_of(
            self.target.budget,
            law,
            noiseless=law.is_noiseless,
            released=self.released,
            public=self.public,
            provenance=self.provenance,
        )

    def _event(self, procedure: ReleaseProcedure, law: NoiseLaw) -> Event:
        noisy = 0 if law.is_noiseless else law.dimension
        return procedure.event("parameters", law, self.n_outputs, noisy, self.provenance)

    def _rehearse(self, procedure: ReleaseProcedure, law: NoiseLaw) -> None:
        def guarantee() -> Guarantee:
            # An account of its own: what is tried is neither charged nor drawn.
            apart = ReleaseProcedure.rehearsing(
                self.space, procedure.secret.sampler, law.bound, self.target.criterion
            )
            apart.account.charge(self._event(apart, law))
            return self.guarantee(apart, law)

        rehearse(self.value(self.outputs.read(law, public_integers(law))), guarantee)

    @property
    def n_outputs(self) -> int:
        """Length of the released vector."""
        return self.outputs.layout.size

    @property
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""
        return self.outputs.canonicalizer.noised

    @property
    def public(self) -> tuple[str, ...]:
        """What is released as it is."""
        return public_facts(self.outputs.layout)

    def value(self, vector: Floats) -> Any:
        """Fitted estimator of a released vector."""
        return self.outputs.decode(vector)


def take_parameters(
    procedure: ReleaseProcedure,
    plan: ParameterPlan,
    *,
    individual: bool = False,
    certify: bool = True,
) -> Release:
    """One step of a session: charge what was planned, draw it, and state what is promised."""
    # What cannot be stated afterwards is refused before anything is charged.
    listed = plan.space.row_subsets() if individual else None
    procedure.warn_of_few(plan.n_outputs)
    law, event, observed, before = plan.take(procedure, certify=certify)
    guarantee = plan.guarantee(procedure, law)
    individual_figures = None if listed is None else information_about_units(law, listed, before)
    if individual_figures is not None:
        guarantee = with_individual(guarantee, individual_figures)
    value = mark_released(plan.value(plan.outputs.read(law, observed)), guarantee)
    return Release(
        value,
        guarantee,
        event,
        law.noise_power,
        law.released_power,
        individual_figures,
        plan.outputs.noise_variances(law),
    )
