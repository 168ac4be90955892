"""How good a release would be, before anything is charged, drawn or released."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

from pacsklearn.estimators.advice import Advice, PlanRequest
from pacsklearn.estimators.released_parameters import ChosenPlan, Parameters
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.kernel.release.terms import public_facts
from pacsklearn.tabular.choosing.fit_plan import ExpectedScore, FitPlan, steadier_models
from pacsklearn.tabular.choosing.simulated_releases import (
    SEED,
    HeldOut,
    SimulatedReleases,
    as_number,
    outside_rows,
    released_scorer,
    scoring_name,
    warn_of_poor_release,
)

NULL_BUDGET = 1e-9


class ParametersAdvice(Advice):
    """Whether released parameters will be better than a constant."""

    name = "parameters"

    def before(self, plan: ChosenPlan[ParameterPlan], candidates: Candidates) -> None:
        """Warn of a release that is expected to be no better than a constant."""
        warn_of_poor_release(plan.plan, candidates, plan.estimator)

    def plan(self, kind: Parameters, estimator: Any, request: PlanRequest) -> FitPlan:
        """Plan of a release of parameters, and of steadier models in its place."""
        candidates, scoring, n_releases = request.candidates, request.scoring, request.n_releases
        choices = kind.choices(request.noise)

        def prepare(one: Any, choices: ReleaseChoices = choices) -> ParameterPlan:
            return _planned(one, candidates, request.target, choices)

        chosen = kind.choose(estimator, prepare, candidates)
        plan, title = chosen.plan, title_of(chosen.estimator)
        outputs, space = plan.outputs, plan.space.row_subsets()
        law = plan.calibrate(opening_belief(space.weights))
        seconds = sum(request.report.wall.values())
        score = released_scorer(scoring, outputs.template, outputs.canonicalizer, candidates.y)
        held_out = outside_rows(candidates, SEED)
        simulated = SimulatedReleases(
            outputs, space, score, held_out, n_releases=n_releases, seed=SEED
        )
        expected = ExpectedScore(title, tuple(simulated.at(law).tolist()))
        constant = constant_score(outputs.template, score, held_out, simulated.candidates)
        predicts = is_classifier(chosen.estimator) or is_regressor(chosen.estimator)
        others = {}
        if request.alternatives and predicts and np.ndim(candidates.y) == 1:
            others = steadier_models(chosen.estimator)
        automatic = ReleaseChoices(prior=choices.prior)
        scores = [
            expected_score(
                name, prepare(other, automatic), candidates, scoring, n_releases, held_out=held_out
            )
            for name, other in others.items()
        ]
        best = max(scores, key=lambda other: other.mean, default=None)
        if best is not None and best.mean <= expected.mean:
            best = None
        fixed = outputs.layout.size - law.dimension
        return FitPlan(
            estimator=title,
            route="parameters",
            why=(
                f"{type(outputs.canonicalizer).__name__} turns the fitted model into numbers, "
                "which are noised once and can be published"
            ),
            promise=promise_of(law, space),
            public=(
                *public_facts(outputs.layout),
                *(
                    [f"{fixed} direction{'s' * (fixed != 1)} on which all candidates agree"]
                    if fixed
                    else []
                ),
            ),
            n_numbers=outputs.layout.size,
            n_noised=law.dimension,
            signal=float(np.linalg.norm(plan.cost.root(outputs.vectors.mean(axis=0)[None, :]))),
            noise=math.sqrt(law.released_power),
            scoring=scoring_name(scoring, outputs.reference),
            expected=expected,
            without_noise=float(simulated.without_noise().mean()),
            constant=constant,
            at_null_budget=None,
            seconds=seconds,
            leaderboard=chosen.leaderboard,
            alternative=best,
            advice=tuple(_advice_on_parameters(expected, constant, best, plan)),
        )


def _planned(
    estimator: Any, candidates: Candidates, target: Target, choices: ReleaseChoices
) -> ParameterPlan:
    def prepare() -> Candidates:
        return Candidates.prepare(
            estimator, candidates.X, candidates.y, candidates.space, candidates.options
        )

    return ParameterPlan.of(estimator, prepare, target, choices)


def constant_score(
    estimator: Any,
    score: Callable[[Any, Any, Any], Any],
    held_out: HeldOut,
    candidates: Iterable[int],
) -> float:
    """Mean score of the best constant answer on the same rows; nan where there is none."""
    dummy: Any
    if is_classifier(estimator):
        dummy = DummyClassifier(strategy="most_frequent")
    elif is_regressor(estimator):
        dummy = DummyRegressor()
    else:
        return math.nan

    def work() -> float:
        scores = []
        for index in dict.fromkeys(candidates):
            X, y = held_out(index)
            scores.append(as_number(score(dummy.fit(np.zeros((len(y), 1)), y), X, y)))
        return float(np.mean(scores))

    # A scorer of the user's may ask for what a constant does not offer.
    score_of_constant = attempt(work, fits=True).value
    return math.nan if score_of_constant is None else float(score_of_constant)


def expected_score(
    name: str,
    plan: ParameterPlan,
    candidates: Candidates,
    scoring: Any,
    n_releases: int,
    seed: int = SEED,
    held_out: HeldOut | None = None,
) -> ExpectedScore:
    """Expected score of a release of parameters, over the draws of a public seed."""
    outputs = plan.outputs
    score = released_scorer(scoring, outputs.template, outputs.canonicalizer, candidates.y)
    simulated = SimulatedReleases(
        outputs,
        plan.space.row_subsets(),
        score,
        held_out or outside_rows(candidates, SEED),
        n_releases=n_releases,
        seed=seed,
    )
    return ExpectedScore(
        name, tuple(simulated.at(plan.calibrate(opening_belief(plan.space.weights))).tolist())
    )


def _advice_on_parameters(
    expected: ExpectedScore, constant: float, best: ExpectedScore | None, plan: ParameterPlan
) -> Iterable[str]:
    if expected.mean <= constant:
        yield (
            "No better than a constant is expected: regularise more, release fewer numbers, or "
            "encode the table by a public Schema."
        )
    if best is not None:
        yield f"{best.name} is expected to be better under the same promise."
    if plan.target.criterion is None:
        yield (
            "A cap on membership success (criterion='membership') needs far less noise than nats, "
            "and promises nothing else."
        )


def title_of(estimator: Any) -> str:
    """Steps of an estimator, for people."""
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    return " + ".join(type(step).__name__ for step in steps if step not in (None, "passthrough"))


def promise_of(law: NoiseLaw, space: Any) -> str:
    """What a release by ``law`` promises, in words."""
    if law.information is None:
        return promise_of_nats(law.bound, space)
    return (
        f"success at most {percent_up(law.bound)} % at the capped criterion; at most "
        f"{law.information:.4g} nats"
    )


def promise_of_nats(budget: float, space: Any) -> str:
    """What at most ``budget`` nats promise, in words: what is learned, and a member told."""
    prior, _ = space.membership_prior()
    return (
        f"at most {budget:.4g} nats; membership of a {space.unit} is told with a success of at "
        f"most {percent_up(posterior_success(budget, prior))} %"
    )
