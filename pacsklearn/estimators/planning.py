"""How good a release would be, before anything is charged, drawn or released."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

from pacsklearn.candidates.candidates import Candidates
from pacsklearn.candidates.run import attempt
from pacsklearn.core.fit_report import FitReport
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.statement_rendering import percent_up
from pacsklearn.estimators.fit_plan import ExpectedScore, FitPlan
from pacsklearn.estimators.simulated_releases import (
    HeldOut,
    SimulatedReleases,
    as_number,
    outside_rows,
    released_scorer,
    scoring_name,
)
from pacsklearn.exceptions import UtilityWarning, warn_user
from pacsklearn.information.posterior_success import posterior_success
from pacsklearn.release.parameters import ParameterPlan
from pacsklearn.release.secret import opening_belief
from pacsklearn.release.statement import membership_prior, public_facts
from pacsklearn.tables.hashed_space import row_space

SEED = 0
_QUICK_RELEASES, _QUICK_ROWS = 8, 500
NULL_BUDGET = 1e-9


def plan_parameters(
    plan: ParameterPlan,
    candidates: Candidates,
    report: FitReport,
    *,
    title: str,
    scoring: Any,
    n_releases: int,
    leaderboard: Iterable[ExpectedScore] = (),
    alternatives: Mapping[str, Callable[[], ParameterPlan]] | None = None,
) -> FitPlan:
    """Plan of a release of parameters.

    Parameters
    ----------
    plan : ParameterPlan
        What would be taken.
    candidates : Candidates
    report : FitReport
        Of the work so far.
    title : str
    scoring : None, str or callable
    n_releases : int
    leaderboard : iterable of ExpectedScore
    alternatives : mapping of str to callable, optional
        Steadier models by name, each prepared when it is called.
    """
    outputs, space = plan.outputs, row_space(plan.space)
    law = plan.calibrate(opening_belief(space.weights))
    score = released_scorer(scoring, outputs.template, outputs.canonicalizer, candidates.y)
    held_out = outside_rows(candidates, SEED)
    simulated = SimulatedReleases(outputs, space, score, held_out, n_releases=n_releases, seed=SEED)
    expected = ExpectedScore(title, tuple(simulated.at(law).tolist()))
    constant = constant_score(outputs.template, score, held_out, simulated.candidates)
    others = [
        expected_score(name, prepare(), candidates, scoring, n_releases)
        for name, prepare in (alternatives or {}).items()
    ]
    best = max(others, key=lambda other: other.mean, default=None)
    if best is not None and best.mean <= expected.mean:
        best = None
    fixed = outputs.layout.size - law.dimension
    return FitPlan(
        estimator=title,
        route="parameters",
        why=(
            f"{type(outputs.canonicalizer).__name__} turns the fitted model into numbers, which "
            "are noised once and can be published"
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
        seconds=sum(report.wall.values()),
        leaderboard=tuple(leaderboard),
        alternative=best,
        advice=tuple(_advice_on_parameters(expected, constant, best, plan)),
    )


def warn_of_poor_release(plan: ParameterPlan, candidates: Candidates, estimator: Any) -> None:
    """Warn when a release is expected to be no better than a constant; nothing secret is used."""
    y, methods = candidates.y, plan.outputs.canonicalizer.methods
    predicts = is_classifier(estimator) or is_regressor(estimator)
    if not predicts or "predict" not in methods or y is None or np.ndim(y) != 1:
        return
    held_out = outside_rows(candidates, SEED, _QUICK_ROWS)

    # Every fit comes through here: scikit-learn's scorers would take longer than the predictions.
    def gain(model: Any, X: Any, y: Any) -> float:
        return over_constant(np.asarray(y), model.predict(X), is_classifier(estimator))

    simulated = SimulatedReleases(
        plan.outputs, row_space(plan.space), gain, held_out, n_releases=_QUICK_RELEASES, seed=SEED
    )
    law = plan.calibrate(opening_belief(plan.space.weights))
    if simulated.at(law).mean() <= 0:
        advice = "More regularisation, fewer features or another criterion may help: "
        if is_regressor(estimator) and can_have_prior(plan):
            # A warning: scikit-learn's checks fit tables on which noise always dominates.
            advice = (
                "State what is publicly expected of the targets, without looking at them: "
                "prior_mean=..., or value_range=(low, high); what is released is then drawn toward "
                "it. More regularisation may help as well: "
            )
        warn_user(
            f"{type(estimator).__name__} released under this budget is expected to be no better "
            f"than a constant answer. {_advice_on_wide(candidates, estimator)}{advice}"
            "PACPrivate.plan shows the figures (for the curator's eyes), and tune= chooses.",
            UtilityWarning,
        )


def _advice_on_wide(candidates: Candidates, estimator: Any) -> str:
    """What to try where there are more columns than rows, and so many numbers to noise."""
    shape: tuple[int, ...] = getattr(candidates.X, "shape", ())
    if len(shape) < 2 or shape[1] <= shape[0]:
        return ""
    kind = "Classifier" if is_classifier(estimator) else "Regressor"
    return (
        f"The table has {shape[1]} columns and {shape[0]} rows: a model of few of the columns, "
        f"Stepwise{kind}(n_terms=2), needs least noise. "
    )


def over_constant(y: NDArray[Any], predicted: NDArray[Any], are_labels: bool) -> float:
    """Accuracy above that of the most frequent label, or R², which the mean leaves at 0."""
    if are_labels:
        counts = np.unique(y, return_counts=True)[1]
        return float(np.mean(predicted == y) - counts.max() / len(y))
    spread = float(np.sum((y - y.mean()) ** 2))
    missed = float(np.sum((y - predicted) ** 2))
    return 1 - missed / spread if spread else -missed


def can_have_prior(plan: ParameterPlan) -> bool:
    """Whether a public prior was not stated and could be."""
    outputs = plan.outputs
    if outputs.prior is not None:
        return False
    return outputs.canonicalizer.constant(outputs.layout, 1.0, clone(outputs.template)) is not None


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
) -> ExpectedScore:
    """Expected score of a release of parameters, over the draws of a public seed."""
    outputs = plan.outputs
    score = released_scorer(scoring, outputs.template, outputs.canonicalizer, candidates.y)
    simulated = SimulatedReleases(
        outputs,
        row_space(plan.space),
        score,
        outside_rows(candidates, SEED),
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
    prior, _ = membership_prior(space)
    return (
        f"at most {budget:.4g} nats; membership of a {space.unit} is told with a success of at "
        f"most {percent_up(posterior_success(budget, prior))} %"
    )
