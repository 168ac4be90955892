"""Release a fitted model's own numbers, noised: one plan that is taken once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from sklearn.base import is_classifier, is_regressor

from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import ReleaseKind, about, classes_of
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices, public_prior
from pacsklearn.kernel.release.plan import Plan
from pacsklearn.kernel.release.release import Release

PlanT = TypeVar("PlanT", bound=Plan)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChosenPlan(Generic[PlanT]):
    """The estimator whose parameters are released, with its plan; secret material.

    Parameters
    ----------
    estimator : estimator
    plan : Plan
    leaderboard : tuple
        Where something was chosen: what else could have been, best first, for the curator.
    """

    estimator: Any
    plan: PlanT
    leaderboard: tuple[Any, ...] = ()

    def learned(self, release: Release) -> dict[str, Any]:
        """What a fit learns of the choice."""
        del release
        return {}


Prepare = Callable[[Any], ParameterPlan]
"""Plan of an estimator, on the candidates that the release is taken from."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters(ReleaseKind):
    """Parameters of the fitted model, in canonical form, noised once.

    Parameters
    ----------
    noise, metric, canonicalizer, certify, value_range, prior_mean
        As for :class:`~pacsklearn.PACPrivate`.
    """

    name: ClassVar[str] = "parameters"
    released_as: ClassVar[str] = "parameters"
    noun: ClassVar[str] = "parameters"
    spelling: ClassVar[str] = "release='parameters'"
    is_black_box: ClassVar[bool] = False
    needs_list: ClassVar[str] = ""

    noise: Any = field(default="auto", metadata=about("how released parameters are noised"))
    metric: Any = field(default="auto", metadata=about("how released parameters are noised"))
    canonicalizer: Any = field(
        default="auto", metadata=about("how a model becomes the numbers that are released")
    )
    certify: bool = field(default=True, metadata=about("the certificate of released parameters"))

    def check(self, model: Any) -> None:
        """Refuse an estimator whose parameters cannot be released, and other kinds' arguments."""
        if not (isinstance(self.noise, str) and self.noise == "auto"):
            registry().noise_backend(self.noise)
        self.check_estimator(model.estimator)
        super().check(model)

    def check_estimator(self, estimator: Any) -> None:
        """Refuse an estimator whose parameters cannot be released.

        Raises
        ------
        NoCanonicalizerError
        """
        try:
            self.canonicalizer_of(estimator)
        except NoCanonicalizerError as error:
            if not answers_queries(estimator):
                raise
            raise NoCanonicalizerError(
                error.why, f"{error.advice} Or let it answer: release='responses'.".lstrip()
            ) from None

    def canonicalizer_of(self, estimator: Any) -> Canonicalizer:
        """Canonicalizer of an estimator.

        Raises
        ------
        NoCanonicalizerError
        """
        return registry().canonicalizer(self.canonicalizer, estimator)

    def offered(self, estimator: Any) -> Iterable[str]:
        """Methods of a released model."""
        return self.canonicalizer_of(estimator).methods

    def choices(self, estimator: Any) -> ReleaseChoices:
        """The arguments as a plan takes them."""
        prior = public_prior(estimator, self.prior_mean, self.value_range)
        return ReleaseChoices(self.noise, self.metric, self.canonicalizer, prior)

    def choose(
        self, estimator: Any, prepare: Prepare, candidates: Candidates
    ) -> ChosenPlan[ParameterPlan]:
        """Plan of the release; a kind that chooses among estimators looks at the candidates."""
        del candidates
        return ChosenPlan(estimator=estimator, plan=prepare(estimator))

    def prepare(self, fit: OpenFit) -> ChosenPlan[Any]:
        """Plan of the release."""
        rows, procedure = fit.rows, fit.procedure

        def prepare(one: Any) -> ParameterPlan:
            target = procedure.check(None)
            return ParameterPlan.of(one, partial(fit.candidates, one), target, self.choices(one))

        return self.choose(fit.estimator, prepare, rows.candidates)

    def take(self, model: Any, fit: OpenFit, plan: ChosenPlan[Any]) -> dict[str, Any]:
        """Release the planned parameters."""
        release = fit.procedure.release(plan.plan, certify=self.certify)[0]
        fit.close()
        return learned_of(release, self.offered(plan.estimator)) | plan.learned(release)


def learned_of(release: Release, methods: Iterable[str]) -> dict[str, Any]:
    """What a fit learns from released parameters."""
    return {
        "released_as_": Parameters.released_as,
        "released_estimator_": release.value,
        "released_methods_": methods,
        "_guarantee": release.guarantee,
        "noise_variances_": release.noise_variances,
        **classes_of(release.value),
    }


def answers_queries(estimator: Any) -> bool:
    """Whether private answers can be released: it is a classifier or regressor that predicts."""
    if not (hasattr(estimator, "__sklearn_tags__") and hasattr(estimator, "predict")):
        return False
    return is_classifier(estimator) or is_regressor(estimator)
