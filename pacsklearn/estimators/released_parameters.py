"""Release a fitted model's own numbers, noised: one plan that is taken once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, final

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from pacsklearn._validation import is_word
from pacsklearn.estimators.alternatives import ChosenPlan, options_of
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import ReleaseKind, classes_of
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.parameters import AS_RELEASED, ParameterPlan, Reading, ReleaseChoices
from pacsklearn.kernel.release.release import Release
from pacsklearn.priors import Prior
from pacsklearn.universe.metrics import metric_or_auto
from pacsklearn.universe.public_prior import DrawnToward


@final
@dataclass(eq=False, repr=False)
class Parameters(ReleaseKind):
    """Release the parameters of the fitted model, in canonical form, noised once.

    For ``release`` of :class:`PACPrivate`.

    Parameters
    ----------
    metric : "auto", None, array-like or Metric, default="auto"
        What noise costs in each direction of the released vector. "auto" asks the canonicalizer
        (for linear models: the expected change of the decision); None counts every number the
        same; a vector or a matrix weighs them.
    canonicalizer : "auto", str or Canonicalizer, default="auto"
        How a fitted model becomes a vector.
    certify : bool, default=True
        State in ``guarantee_`` what the optimal adversary achieves at the worst row under this very
        noise, at confidence 1 - 1e-6, beside what the information implies; usually a fraction of a
        second.
    prior : Range or Expected, default=None
        For regressors: what is publicly expected of the targets (:mod:`pacsklearn.priors`).
        Released models are drawn toward it as far as their noise asks for; without it a regressor
        under much noise is worse than any constant.
    average : bool, default=False
        For classifiers with probabilities: release an
        :class:`~pacsklearn.estimators.AveragedClassifier`, whose probabilities are averaged over
        the law of the noise. That law is public, and its covariance a function of the whole table,
        as the guarantee lists.

    Examples
    --------
    >>> from pacsklearn import Parameters
    >>> from pacsklearn.priors import Range
    >>> Parameters(prior=Range(0, 300))
    Parameters(prior=Range(low=0, high=300))
    """

    _: KW_ONLY
    metric: Any = "auto"
    canonicalizer: Any = "auto"
    certify: bool = True
    prior: Prior | None = None
    average: bool = False

    name: ClassVar[str] = "parameters"
    is_black_box: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ReleaseKind._parameter_constraints,
        "certify": ["boolean"],
        "average": ["boolean"],
    }

    def check(self, model: Any) -> None:
        if not is_word(model.noise, "auto"):
            registry().noise_backend(model.noise)
        options_of(model.estimator).check(self.canonicalizer_of)
        try:
            self.canonicalizer_of(model.estimator)
        except NoCanonicalizerError as error:
            advice = f"{error.advice} {to_answer(model.estimator)}".strip()
            raise NoCanonicalizerError(error.why, advice) from None
        super().check(model)

    def needs_list(self, estimator: Any) -> str:
        return options_of(estimator).needs_list

    def canonicalizer_of(self, estimator: Any) -> Canonicalizer:
        """Find the canonicalizer of an estimator.

        Raises
        ------
        NoCanonicalizerError
        """
        return registry().canonicalizer(self.canonicalizer, options_of(estimator).template)

    def offered(self, estimator: Any) -> Iterable[str]:
        """List the methods of a released model."""
        return self._reading.methods(self.canonicalizer_of(estimator))

    def choices(self, noise: Any) -> ReleaseChoices:
        """Return the arguments as a plan takes them."""
        return ReleaseChoices(noise, metric_or_auto(self.metric), self.canonicalizer, self._reading)

    @property
    def _reading(self) -> Reading:
        if not self.average:
            return AS_RELEASED if self.prior is None else DrawnToward(self.prior.normal())
        from pacsklearn.estimators.averaged import AveragedProbabilities

        return AveragedProbabilities()

    def prepare(self, fit: OpenFit) -> ChosenPlan[Any]:
        """Plan the release."""
        rows, procedure = fit.rows, fit.procedure
        choices = self.choices(fit.model.noise)

        def prepare(one: Any) -> ParameterPlan:
            target = procedure.check(None)
            return ParameterPlan.of(one, partial(fit.candidates, one), target, choices)

        return options_of(rows.stated).choose(prepare, rows.candidates)

    def take(self, fit: OpenFit, plan: ChosenPlan[Any]) -> dict[str, Any]:
        """Release the planned parameters."""
        release = fit.procedure.release(plan.plan, certify=self.certify)[0]
        fit.close()
        return learned_of(release, self.offered(plan.estimator)) | plan.learned(release)


def learned_of(release: Release, methods: Iterable[str]) -> dict[str, Any]:
    """Return what a fit learns from released parameters."""
    return {
        "released_estimator_": release.value,
        "released_methods_": methods,
        "_guarantee": release.guarantee,
        "noise_variances_": release.noise_variances,
        **classes_of(release.value),
    }


def answers_queries(estimator: Any) -> bool:
    """Return whether private answers can be released.

    It is a classifier or regressor that predicts.
    """
    # A stack whose last model is not stated says that it predicts when it is fitted.
    stacked = any(name.endswith("final_estimator") for name in estimator.get_params())
    predicts = hasattr(estimator, "__sklearn_tags__") and (stacked or hasattr(estimator, "predict"))
    return predicts and (is_classifier(estimator) or is_regressor(estimator))


def to_answer(estimator: Any) -> str:
    """Say how an estimator without a canonicalizer can answer; empty where it cannot."""
    if answers_queries(estimator):
        return "Or let it answer: release=Answers()."
    if not hasattr(estimator, "predict") or get_tags(estimator).estimator_type is not None:
        return ""
    return (
        "If it is a classifier or a regressor, let it answer: give an instance of a class derived "
        "from it, in whose __sklearn_tags__ estimator_type says so."
    )
