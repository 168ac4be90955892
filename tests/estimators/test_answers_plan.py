"""What a fit that ends in answers says of them: by the candidates alone, and for the curator."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pacsklearn import Answers, Nats, PACPrivate, Student, Subsets
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.kernel.outputs.models import CandidateModels
from pacsklearn.priors import Range
from pacsklearn.tabular.choosing.answers_plan import first_subsets
from pacsklearn.universe.balanced_space import balanced_space

POOR = "Answers of {}, .* nats each, are expected to be no better than a constant answer"


@pytest.fixture(scope="module")
def uneven() -> Any:
    """Three rows in ten are of the other class, and boosting at its defaults learns the noise."""
    X, y = make_classification(300, 8, weights=[0.7], flip_y=0.1, random_state=0)
    return X + np.random.default_rng(0).normal(0, 10, X.shape), y


def warned(model: PACPrivate, *rows: Any) -> list[str]:
    """Words of the fit's warnings about utility."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(*rows)
    return [str(each.message) for each in told if each.category is UtilityWarning]


@pytest.mark.soak
def test_default_boosting_on_uneven_data_is_said_to_be_below_a_constant(uneven: Any) -> None:
    booster = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    model = PACPrivate(booster, secret=Subsets(32, seed=0))
    (words,) = warned(model, *uneven)
    planned = model.plan(*uneven, n_releases=4)
    assert not planned.verdict.beats_reference
    assert planned.n_noised > 0.2 * planned.n_numbers
    for text in (words, str(planned.advice)):
        assert "Steadier models disagree on 3 to 13 %" in text
        assert "release=Student" in text
        assert "stabilize=True" in text


@pytest.mark.parametrize("answers", ["labels", "probabilities"])
def test_answers_of_noise_warn_and_steady_ones_do_not(
    uneven: Any, cancer: Any, answers: str
) -> None:
    lookup = DecisionTreeClassifier(random_state=0)
    model = PACPrivate(lookup, release=Answers(of=answers), secret=Subsets(16))
    with pytest.warns(UtilityWarning, match=POOR.format("DecisionTreeClassifier")):
        model.fit(*uneven)
    steady = PACPrivate(
        DecisionTreeClassifier(min_samples_leaf=20), release=Answers(), secret=Subsets(16)
    )
    assert warned(steady, *cancer) == []


@pytest.mark.soak
def test_numbers_that_are_noise_are_what_the_public_constant_is() -> None:
    X = np.linspace(0, 1, 300)[:, None]
    y = np.sin(6 * X[:, 0]) + np.random.default_rng(0).normal(0, 0.3, 300)
    tree = DecisionTreeRegressor(max_depth=3)
    how = {"secret": Subsets(16)}
    ends = Range(-2.0, 2.0)
    drawn = PACPrivate(tree, budget=1e-6, release=Answers(prior=ends), **how).plan(X, y)
    assert drawn.verdict.reference.name == "the constant 0"
    assert drawn.verdict.gain == pytest.approx(0, abs=0.02)
    few = PACPrivate(tree, budget=Nats(2.0), release=Answers(50, prior=ends), **how)
    assert warned(few, X, y) == []


@pytest.mark.soak
def test_rows_that_get_no_answer_fail_no_fit() -> None:
    """Some models say nan, or nothing at all, of rows that their subset has nothing like."""
    X = np.arange(60.0)[:, None]
    far = RadiusNeighborsRegressor(radius=0.5)  # of a row outside its subset it knows nothing
    near = RadiusNeighborsRegressor(radius=3.0)
    for model in (far, near, IsotonicRegression()):
        private = PACPrivate(
            model, release=Answers(prior=Range(0.0, 60.0)), secret=Subsets(8), budget=Nats(1.5)
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", RuntimeWarning
            )  # scikit-learn's, of empty neighbourhoods
            warnings.simplefilter("ignore", UserWarning)
            private.fit(X, X[:, 0])
            if model is near:
                assert private.plan(X, X[:, 0]).expected.mean > 0

    draw = np.random.default_rng(0)
    words = draw.choice(list("pqrst"), (300, 2)).astype(object)
    words[-1] = "x"  # in half of the subsets
    strict = make_pipeline(OrdinalEncoder(), KNeighborsClassifier(1))
    private = PACPrivate(strict, release=Answers(), secret=Subsets(8), budget=Nats(1.5))
    assert private.fit(words, draw.integers(0, 2, 300)).predict(words[:2]).shape == (2,)


def test_what_a_fit_warns_of_knows_no_secret(
    uneven: Any, monkeypatch: pytest.MonkeyPatch, secret_subsets: Any
) -> None:
    lookup = DecisionTreeClassifier(random_state=0)
    told = {
        warned(PACPrivate(lookup, release=Answers(), secret=Subsets(16, seed=0)), *uneven)[0]
        for _ in range(3)
    }
    assert len(told) == 1  # whichever of the candidates was drawn


def test_the_rehearsal_charges_nothing_and_leaves_nothing(uneven: Any) -> None:
    model = PACPrivate(
        DecisionTreeClassifier(random_state=0), release=Answers(), secret=Subsets(16)
    )
    assert warned(model, *uneven)
    responder = model.responder()
    assert (responder.n_answered, responder.n_contested) == (0, 0)
    assert model.remaining_budget_ == model.budget
    assert np.ptp(responder.log_belief) == 0
    left = f"{model!r} {model.guarantee_} {sorted(vars(model))}".lower()
    assert "constant answer" not in left
    assert b"no better than" not in pickle.dumps(model)


def test_thirty_two_candidates_and_few_rows_stand_for_all(
    uneven: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    first, labels = CandidateModels.first, CandidateModels.labels

    def counted(models: CandidateModels, n_models: int) -> CandidateModels:
        few = first(models, n_models)
        asked.append(few.n_models)
        return few

    def counted_rows(models: CandidateModels, X: Any, classes: Any) -> Any:
        asked.append(len(X))
        return labels(models, X, classes)

    monkeypatch.setattr(CandidateModels, "first", counted)
    monkeypatch.setattr(CandidateModels, "labels", counted_rows)
    tree = DecisionTreeClassifier(random_state=0)
    assert warned(PACPrivate(tree, release=Answers(), secret=Subsets(64)), *uneven)
    assert asked == [32, 256]


def test_the_first_candidates_are_a_space_of_their_own() -> None:
    space = balanced_space(50, n_subsets=64, seed=3)
    few = first_subsets(space, 16)
    assert few.n_subsets == 16
    assert few.weights.sum() == pytest.approx(1.0)
    for index in range(16):
        np.testing.assert_array_equal(few.rows(index), space.rows(index))
    assert first_subsets(space, 64) is space


def test_a_student_of_coin_flips_warns(uneven: Any) -> None:
    X, y = uneven[0], np.random.default_rng(0).integers(2, size=len(uneven[0]))
    teacher = DecisionTreeClassifier(random_state=0)
    # In blocks, rows outside a candidate have mates of their own class in it, and a table of coin
    # flips seems to be learned a little.
    how = {"release": Student(queries=X), "secret": Subsets(16, blocks=None, seed=0)}
    (words,) = warned(PACPrivate(teacher, budget=1e-9, random_state=1, **how), X, y)
    assert "no better than a constant answer on the rows of the table" in words
    planned = PACPrivate(teacher, budget=1e-9, **how).plan(X, y, n_releases=2)
    assert any("not sure to beat the public constant" in text for text in planned.advice)


@pytest.mark.soak
def test_a_good_student_does_not_warn(cancer: Any) -> None:
    teacher = DecisionTreeClassifier(min_samples_leaf=20)
    good = PACPrivate(teacher, release=Student(queries=cancer[0]), secret=Subsets(16))
    assert warned(good, *cancer) == []


def test_a_model_without_an_answer_says_what_would_give_one():
    X = np.linspace(0, 1, 60)[:, None]
    release = Answers(100, prior=Range(-3, 3))
    private = PACPrivate(IsotonicRegression(), secret=Subsets(8), release=release)
    with pytest.raises(ValueError, match="out_of_bounds"):
        private.fit(X, X[:, 0]).predict([[-50.0]])
