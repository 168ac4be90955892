"""One verdict: plan, choice and warning read the same figures, beside a public constant."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate, Parameters, Student, Subsets, Tuned
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.priors import Constant, Range
from pacsklearn.tabular import Utility, Verdict
from pacsklearn.tabular.choosing.verdict import constant_name, public_constant
from pacsklearn.universe.public_prior import PublicPrior

pytestmark = pytest.mark.usefixtures("all_rehearsals")
STEADY, SHAKY = (
    make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000)) for C in (1e-2, 1e3)
)
HOW: dict[str, Any] = {"secret": Subsets(16, seed=0)}


@pytest.fixture(scope="module")
def rare() -> Any:
    """One row in twenty is of the second class, and a model says no to every row."""
    return make_classification(
        1200, 10, n_informative=4, weights=[0.95], flip_y=0.01, random_state=3
    )


@pytest.fixture(scope="module")
def separable() -> Any:
    return make_classification(
        1200, 4, n_informative=3, n_redundant=0, class_sep=2, flip_y=0, random_state=3
    )


def warned(model: Any, X: Any, y: Any) -> list[str]:
    """Words of the fit's warnings about utility."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(each.message) for each in told if each.category is UtilityWarning]


def test_differences_are_paired() -> None:
    reference = Utility("constant", (-1.0, -2.0, -3.0))
    better = Utility("model", (-0.9, -1.85, -2.85))
    verdict = Verdict("score", (better,), reference)
    assert verdict.beats_reference  # by .13 (s.e. .03) draw by draw; by themselves s.e. .8
    assert verdict.gain == pytest.approx(0.4 / 3)
    worse = Utility("model", (-1.1, -2.0, -3.1))
    verdict = Verdict("score", (worse, better), reference)
    assert not verdict.beats_reference
    assert verdict.expected is worse
    assert "no better than constant" in verdict.why
    unsure = Verdict("score", (Utility("model", (0.0, -2.5, -3.1)),), reference)
    assert unsure.gain > 0
    assert not unsure.beats_reference
    assert "not sure" in unsure.why
    alone = Verdict("score", (worse,), Utility("no constant", ()))
    assert alone.beats_reference
    assert "publicly known" in alone.why


def test_the_reference_knows_nothing_of_the_table() -> None:
    y = np.repeat(["ill", "well"], [1, 99])
    even = public_constant(LogisticRegression(), y)
    assert even.predict_proba([[0]]).tolist() == [[0.5, 0.5]]
    stated = public_constant(LogisticRegression(), y, Constant({"well": 3, "ill": 1}))
    assert stated.predict_proba([[0]]).tolist() == [[0.25, 0.75]]
    assert public_constant(Ridge(), np.arange(9.0)) is None
    assert public_constant(Ridge(), np.arange(9.0), PublicPrior(7.0, 1.0)).predict([[0]]) == [7.0]


def test_the_warning_is_that_of_the_choice(rare: Any) -> None:
    """By accuracy, which no model of 5 % positives gains in, each fit warned of what it chose."""
    model = PACPrivate(Tuned([SHAKY, STEADY]), budget=1.0 / 4, **HOW)
    assert warned(model, *rare) == []
    assert model.verdict_.beats_reference
    planned = model.plan(*rare)
    assert planned.verdict.expected == model.verdict_.expected
    assert planned.verdict.reference == model.verdict_.reference
    poor = PACPrivate(Tuned([SHAKY]), budget=1e-9, **HOW)
    (words,) = warned(poor, *rare)
    assert "no better than a constant" in words
    assert not poor.verdict_.beats_reference
    assert not poor.plan(*rare).verdict.beats_reference


def test_a_student_that_ranks_well_is_not_said_to_be_poor(rare: Any) -> None:
    X, y = rare
    teacher = make_pipeline(StandardScaler(), LogisticRegression())
    student = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    model = PACPrivate(teacher, budget=1 / 4, release=Student(student, X[::3]), **HOW)
    assert warned(model, X, y) == []


@pytest.mark.soak
def test_a_plan_recommends_no_model_that_only_says_no(rare: Any) -> None:
    """By accuracy ``C=1e-5``, which finds no positive, was recommended over what ranks them."""
    planned = PACPrivate(STEADY, budget=1.0 / 4, **HOW).plan(*rare)
    best = planned.alternative
    assert best is None or best.mean > planned.expected.mean
    assert best is None or "C=1e-05" not in best.name


def test_a_temperature_is_chosen_released_and_stated(rare: Any) -> None:
    model = PACPrivate(Tuned(SHAKY), budget=1 / 16, **HOW).fit(*rare)
    temperature = model.verdict_.expected.temperature
    assert temperature > 1
    words = dict(model.guarantee_.details)["choice"]
    assert f"ln 9 = {math.log(9):.4g}" in words
    assert f"temperature, of public constants: {temperature:.4g}" in words
    plan = PACPrivate(SHAKY, budget=1 / 16, **HOW).plan(*rare, alternatives=False)
    assert any("Probabilities are too sure" in text for text in plan.advice)


def test_what_a_penalty_made_timid_is_sharpened(separable: Any) -> None:
    timid = make_pipeline(StandardScaler(), LogisticRegression(C=1e-3))
    asked = {"budget": 1 / 2, **HOW}
    model = PACPrivate(Tuned(timid), **asked).fit(*separable)
    assert model.verdict_.expected.temperature < 1
    plan = PACPrivate(timid, **asked).plan(*separable, alternatives=False)
    assert any("Probabilities are too careful" in text for text in plan.advice)
    X, y = separable
    plain = PACPrivate(timid, **asked).fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < log_loss(y, plain.predict_proba(X)) - 0.1


@pytest.mark.soak
@pytest.mark.parametrize(
    "name", ["roc_auc", pytest.param("neg_brier_score", marks=pytest.mark.soak)]
)
def test_scores_by_name_are_alike_in_plan_and_fit(rare: Any, name: str) -> None:
    model = PACPrivate(Tuned([SHAKY, STEADY], scoring=name), **HOW)
    planned = model.plan(*rare)
    assert planned.verdict.scoring == name == model.fit(*rare).verdict_.scoring
    assert planned.verdict.expected == model.verdict_.expected


def test_a_regressor_is_compared_with_what_is_publicly_expected() -> None:
    X, y = load_diabetes(return_X_y=True)
    release = Parameters(prior=Range(0, 100))
    planned = PACPrivate(Ridge(), release=release, **HOW).plan(X, y, alternatives=False)
    assert planned.verdict.reference.name == "the constant 50"
    assert -2.5 < planned.verdict.reference.mean < -1  # the mean, which is private, is 152


def test_accuracy_is_not_given_up_for_less_log_probability() -> None:
    # The proper score alone takes the first, by .007; its labels are worse by .039.
    sure = Utility("sure", (-0.241, -0.241), right=(0.897, 0.897))
    steady = Utility("steady", (-0.248, -0.248), right=(0.936, 0.936))
    assert steady.mean < sure.mean
    assert steady.merit > sure.merit
    assert sure.behind(steady, in_merit=True) == math.inf
    assert sure.behind(steady) == -math.inf
    # Of rare classes accuracy says nothing, and probabilities decide.
    dull = Utility("dull", (-0.2,), right=(0.95,))
    sharp = Utility("sharp", (-0.15,), right=(0.948,))
    assert sharp.merit > dull.merit
    assert Utility("of another score", (0.5,)).merit == 0.5


def test_the_chosen_option_has_the_largest_merit(rare: Any) -> None:
    fitted = PACPrivate(Tuned([STEADY, SHAKY]), budget=1 / 4, **HOW).fit(*rare)
    for option in fitted.verdict_.options:
        assert len(option.right) == len(option.scores)
        assert 0 <= min(option.right) <= max(option.right) <= 1
    first, second = fitted.verdict_.options
    assert first.merit > second.merit


def test_a_scorer_that_is_not_there_is_refused_by_name(rare):
    with pytest.raises(ValueError, match="scoring must be one of"):
        PACPrivate(SHAKY, **HOW).plan(*rare, scoring="nosuch")


def test_a_constant_of_many_classes_is_named_in_few_words() -> None:
    constant = public_constant(LogisticRegression(), np.arange(40))
    assert constant_name(constant).endswith("0.025, ... (40 classes)")
    assert len(constant_name(constant)) < 100


def test_scores_of_very_many_digits_are_printed_as_powers_of_ten() -> None:
    """Targets behind a logarithm: a line of the plan had ninety digits."""
    printed = str(Utility("Ridge", (-1e67, -3e67)))
    assert printed == "-2e+67 +- 1.41e+67 a release (s.e. 1e+67)"
    verdict = Verdict("R²", (Utility("Ridge", (-1e67,)),), Utility("the constant 45", (-27.955,)))
    assert verdict.why.endswith("R² -1e+67 (s.e. 0) beside -27.955")
