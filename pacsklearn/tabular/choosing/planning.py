"""How good a release would be, before anything is charged, drawn or released."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from pacsklearn._validation import warn_user
from pacsklearn.estimators.advice import Advice, PlanRequest
from pacsklearn.estimators.alternatives import ChosenPlan, options_of
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.exceptions import SubsetFitError, UtilityWarning
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import AS_RELEASED, ParameterPlan, ReleaseChoices
from pacsklearn.kernel.release.terms import public_facts
from pacsklearn.tabular.choosing.fit_plan import FitPlan, OfList, steadier_models
from pacsklearn.tabular.choosing.judge import FIRST_RELEASES, Judge
from pacsklearn.tabular.choosing.log_score import is_tempered, temperatures_of
from pacsklearn.tabular.choosing.verdict import Utility, Verdict
from pacsklearn.universe.design import Fits
from pacsklearn.universe.row_rules import title_of

_QUICK_ROWS = 500
NULL_BUDGET = 1e-9


class ParametersAdvice(Advice):
    """Whether released parameters will be better than a constant."""

    name = "parameters"

    def before(self, plan: ChosenPlan[ParameterPlan], candidates: Candidates) -> None:
        """Warn of a release that is expected to be no better than a constant."""
        if not candidates.space.has_members:
            return  # releases are simulated over a list of candidates
        estimator, one = plan.estimator, plan.plan
        verdict = plan.verdict
        if verdict is None:
            y = candidates.space.judged(candidates.X, candidates.y)[1]
            methods = one.outputs.form.canonicalizer.methods
            predicts = is_classifier(estimator) or is_regressor(estimator)
            if not predicts or "predict" not in methods or y is None or np.ndim(y) != 1:
                return
            # Every fit comes through here: few draws and rows stand for all.
            judge = Judge(candidates, most=_QUICK_ROWS)
            verdict = judge.verdict(title_of(estimator), one, FIRST_RELEASES)
        _warn(verdict, one, candidates, estimator)

    def plan(self, kind: Parameters, estimator: Any, request: PlanRequest) -> FitPlan:
        """Return the plan of a release of parameters, and of steadier models in its place."""
        candidates, n_releases = request.candidates, request.n_releases
        choices = kind.choices(request.noise)

        def prepare(one: Any) -> ParameterPlan:
            return _planned(one, candidates, request.target, choices)

        options = options_of(estimator)
        chosen = options.choose(prepare, candidates)
        plan, title = chosen.plan, title_of(chosen.estimator)
        outputs, space = plan.outputs, plan.space
        law = plan.calibrate(opening_belief(space.weights))
        seconds = sum(request.report.wall.values())
        stated = options.scoring if request.scoring is None else request.scoring
        judge = Judge(candidates, stated)
        verdict, is_chosen = chosen.verdict, chosen.verdict is not None
        if verdict is None or request.scoring is not None:
            name = verdict.expected.name if verdict else title
            verdict = judge.verdict(name, plan, n_releases)
        predicts = is_classifier(chosen.estimator) or is_regressor(chosen.estimator)
        others = {}
        with_others = request.alternatives and not is_chosen
        if with_others and predicts and np.ndim(judge.y) == 1:
            others = steadier_models(chosen.estimator)
        reading = AS_RELEASED if choices.reading.prior is None else choices.reading
        automatic = ReleaseChoices(reading=reading)
        utilities = []
        is_sparse = sparse.issparse(candidates.X)
        for name, other in others.items():
            if is_sparse and not get_tags(other).input_tags.sparse:
                continue
            try:
                weighted = _for_last_step(candidates, chosen.estimator, other)
                steadier = _planned(other, weighted, request.target, automatic)
            except SubsetFitError:
                continue  # it cannot read what the steps before it give, so it is no advice
            utilities.append(judge.utility(name, steadier, n_releases, temperatures_of(other)))
        best = max(utilities, key=lambda other: other.mean, default=None)
        if best is not None and best.mean <= verdict.expected.mean:
            best = None
        lists = []
        if request.alternatives:
            lists.append(_of_list(replace(verdict.expected, name="as stated"), plan))
            for name, dealt, target in request.lists:
                one = _planned(chosen.estimator, dealt, target, choices)
                utility = Judge(dealt, stated).utility(
                    name, one, n_releases, temperatures_of(chosen.estimator)
                )
                lists.append(_of_list(utility, one))
        fixed = outputs.layout.size - law.dimension
        return FitPlan(
            estimator=title,
            route="parameters",
            why=(
                f"{type(outputs.form.canonicalizer).__name__} turns the fitted model into numbers, "
                "which are noised once and can be published"
            ),
            promise=promise_of(law, space, request.target),
            public=(
                *public_facts(outputs.layout),
                *(f"{name}, without noise" for name in plan.released if plan.is_noiseless(law)),
                *(
                    [f"{fixed} direction{'s' * (fixed != 1)} on which all candidates agree"]
                    if fixed
                    else []
                ),
            ),
            n_numbers=outputs.layout.size,
            n_noised=law.n_noisy,
            signal=float(np.linalg.norm(plan.cost.root(outputs.vectors.mean(axis=0)[None, :]))),
            noise=math.sqrt(law.released_power),
            verdict=verdict,
            without_noise=judge.without_noise(plan, n_releases),
            at_null_budget=None,
            seconds=seconds,
            alternative=best,
            advice=tuple(_advice_on_parameters(verdict, best, plan, is_chosen=is_chosen)),
            lists=tuple(lists),
        )


def _of_list(utility: Utility, plan: ParameterPlan) -> OfList:
    """Return one line of the trade between lists."""
    law = plan.calibrate(opening_belief(plan.space.weights))
    known = plan.space.stated().known
    worst = known[1][1] if known else math.nan  # of a single unit with a secret there is no other
    return OfList(utility, math.sqrt(law.released_power), worst)


def _planned(
    estimator: Any, candidates: Candidates, target: Target, choices: ReleaseChoices
) -> ParameterPlan:
    fits = Fits(estimator, candidates.X, candidates.y, candidates.options)
    return ParameterPlan.of(estimator, lambda: candidates.space.outputs(fits), target, choices)


def _for_last_step(candidates: Candidates, estimator: Any, other: Any) -> Candidates:
    """Name the step that a model's own ``fit`` parameters are for, where others stand before it."""
    given = candidates.options.fit_params
    if hasattr(estimator, "steps") or not given:
        return candidates
    params = {f"{other.steps[-1][0]}__{name}": value for name, value in given.items()}
    options = replace(candidates.options, fit_params=params)
    return replace(candidates, estimator=other, options=options)


def _advice_on_parameters(
    verdict: Verdict, best: Utility | None, plan: ParameterPlan, *, is_chosen: bool
) -> Iterable[str]:
    if not verdict.beats_reference:
        yield (
            "It is not sure to beat the public constant: regularise more, release fewer numbers, "
            "or encode the table by a public Schema."
        )
    if best is not None:
        yield f"{best.name} is expected to be better under the same promise."
    is_raw = not is_chosen and is_tempered(plan.outputs.form.template)
    temperature = verdict.expected.temperature
    if is_raw and temperature != 1:
        which = "sure under this noise" if temperature > 1 else "careful under this penalty"
        yield (
            f"Probabilities are too {which}: that figure is of decisions divided by "
            f"{temperature:.3g}, which Tuned does before it releases them."
        )
    if plan.target.criterion is None:
        yield (
            "A cap on membership success (budget=Membership(0.6)) needs far less noise than nats, "
            "and promises nothing else."
        )


def _is_poor(verdict: Verdict, plan: ParameterPlan) -> bool:
    """Return whether a release is expected to be no better than a constant."""
    if not math.isnan(verdict.gain):
        return verdict.gain <= 0
    # Nothing public to compare with, and farther from the targets than they are from each other.
    return (
        is_regressor(plan.outputs.form.template)
        and _can_have_prior(plan)
        and verdict.expected.mean <= 0
    )


def _warn(verdict: Verdict, plan: ParameterPlan, candidates: Candidates, estimator: Any) -> None:
    """Warn when a release is expected to be no better than a constant; nothing secret is used."""
    if not _is_poor(verdict, plan):
        return
    advice = "More regularisation, fewer features or another criterion may help: "
    if is_regressor(estimator) and _can_have_prior(plan):
        # A warning: scikit-learn's checks fit tables on which noise always dominates.
        advice = (
            "State what is publicly expected of the targets, without looking at them, and what is "
            "released is drawn toward it: release=Parameters(prior=Range(low, high)), or "
            "Expected(mean); on the command line --regression --constant, and no --estimator. More "
            "regularisation may help as well: "
        )
    warn_user(
        f"{type(estimator).__name__} released under this budget is expected to be no better "
        f"than a constant answer. {_advice_on_wide(candidates, estimator)}{advice}"
        "PACPrivate.plan (pacsklearn curve) shows the figures, for the curator's eyes; Tuned "
        "chooses.",
        UtilityWarning,
    )


def _advice_on_wide(candidates: Candidates, estimator: Any) -> str:
    """Return what to try where there are more columns than rows, and so many numbers to noise."""
    shape: tuple[int, ...] = getattr(candidates.X, "shape", ())
    if len(shape) < 2 or shape[1] <= shape[0]:
        return ""
    kind = "Classifier" if is_classifier(estimator) else "Regressor"
    return (
        f"The table has {shape[1]} columns and {shape[0]} rows: a model of few of the columns, "
        f"Stepwise{kind}(n_terms=2), needs least noise. "
    )


def _can_have_prior(plan: ParameterPlan) -> bool:
    """Return whether a public prior was not stated and could be."""
    outputs = plan.outputs
    if plan.reading.prior is not None:
        return False
    return (
        outputs.form.canonicalizer.constant(outputs.layout, 1.0, clone(outputs.form.template))
        is not None
    )


def promise_of(law: NoiseLaw, space: Any, target: Target) -> str:
    """Return what a release by ``law`` promises, in words."""
    if target.criterion is None:
        return promise_of_nats(law.bound, space)
    return (
        f"whoever wants to {target.criterion.statement} succeeds with at most "
        f"{percent_up(law.bound)} %; at most {law.information:.4g} nats"
    )


def promise_of_nats(budget: float, space: Any) -> str:
    """Return what at most ``budget`` nats promise, in words: what is learned, and a member told."""
    prior, _ = space.membership_prior()
    return (
        f"at most {budget:.4g} nats; membership of a {space.unit} is told with a success of at "
        f"most {percent_up(posterior_success(budget, prior))} %"
    )
