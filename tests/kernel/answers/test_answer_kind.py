"""Labels, shares and numbers: what each kind asks, answers and costs to ask again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn import PACPrivate, Subsets
from pacsklearn.estimators.answer_kinds import LabelKind, ProbabilityKind, ValueKind, answer_kind
from pacsklearn.estimators.response_model import answers_score
from pacsklearn.plugins import registry
from pacsklearn.priors import normal_prior

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "answers", "value_range", "kind", "width"),
    [
        (SVC(), "auto", None, LabelKind, 3),
        (KNeighborsClassifier(), "probabilities", None, ProbabilityKind, 3),
        (LinearRegression(), "auto", (0, 2), ValueKind, 1),
    ],
)
def test_what_is_asked_decides_the_kind(estimator, answers, value_range, kind, width):
    found = answer_kind(estimator, y, answers, value_range)
    assert isinstance(found, kind)
    assert found.width == width
    assert (found.classes is None) == (kind is ValueKind)


def test_shares_of_nothing_are_even_and_labels_are_the_likeliest():
    kind = ProbabilityKind(np.array(["a", "b"]))
    shares = kind.decoded([[-1.0, -2.0], [0.5, 1.5]])
    np.testing.assert_allclose(shares, [[0.5, 0.5], [0.25, 0.75]])
    assert kind.predicted(shares).tolist() == ["a", "b"]


def test_a_stored_row_asks_for_no_canonicalizer_and_no_tags(monkeypatch):
    model = PACPrivate(SVC(), secret=Subsets(16)).fit(X, y)
    first = model.predict(X[:2])

    def never(*_):
        raise AssertionError("a stored answer needs neither")

    monkeypatch.setattr(type(registry()), "canonicalizer", never)
    monkeypatch.setattr(PACPrivate, "__sklearn_tags__", never)
    np.testing.assert_array_equal(model.predict(X[:2]), first)


def test_noisy_shares_are_made_to_sum_to_one():
    """In proportion to what is positive; where nothing is, no class is preferred."""
    kind = ProbabilityKind(np.array(["a", "b", "c"]))
    noisy = [(0.1, 0.2, 0.1), (1.5, 0.5, -3.0), (-0.5, -0.1, 0.0), (0.0, 1e-300, -1.0)]
    expected = [(0.25, 0.5, 0.25), (0.75, 0.25, 0), (1 / 3, 1 / 3, 1 / 3), (0, 1, 0)]
    assert kind.decoded(noisy) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("estimator", "targets", "answers", "value_range", "words"),
    [
        (SVC(), y, "label", None, "of must"),
        (SVC(), None, "auto", None, "classifier"),
        (StandardScaler(), y, "auto", None, "release"),
        (LinearRegression(), y, "labels", (0, 2), "LinearRegression"),
        (LinearRegression(), y, "probabilities", (0, 2), "classifier"),
        (SVC(), y, "values", (0, 2), "needs"),
        (
            KNeighborsClassifier(),
            np.eye(3)[y],
            "auto",
            None,
            "shape",
        ),
        (SVC(), y, "probabilities", None, "predict_proba"),
        (LinearRegression(), y, "auto", None, "Range"),
        (LinearRegression(), y, "values", (2, 2), "Range"),
    ],
)
def test_what_cannot_be_answered_is_said(estimator, targets, answers, value_range, words):
    with pytest.raises(ValueError, match=words):
        answer_kind(estimator, targets, answers, value_range)


def test_methods_classes_and_widths_of_each_kind():
    labels = answer_kind(SVC(), np.array(["b", "a", "b"]), "labels", None)
    assert (labels.classes.tolist(), labels.methods, labels.value_range) == (
        ["a", "b"], ("predict",), None,
    )  # fmt: skip
    assert labels.decoded([1, 0, 1]).tolist() == ["b", "a", "b"]
    assert labels.decoded([]).shape == (0,)
    shares = answer_kind(SVC(probability=True), y, "probabilities", None)
    assert shares.methods == ("predict", "predict_proba")
    assert (shares.prior, shares.value_range) == (None, None)
    assert shares.decoded([]).shape == (0, 3)
    for targets, width in ((y, 1), (np.zeros((5, 1)), 1), (np.zeros((5, 2)), 2)):
        values = answer_kind(LinearRegression(), targets, "values", (0, 2))
        assert (values.width, values.classes, values.value_range) == (width, None, (0.0, 2.0))
        shape = (3,) if width == 1 else (3, width)
        assert values.decoded([[5.0, -1.0][:width]] * 3).shape == shape


def test_numbers_are_clipped_to_their_range_and_drawn_to_the_middle_by_their_noise():
    kind = ValueKind((-1.0, 3.0), 1, normal_prior(None, (-1.0, 3.0)))
    assert kind.decoded([[-2.0], [0.5], [9.0]]).tolist() == [-1.0, 0.5, 3.0]
    values, belief = np.array([[[0.0], [2.0]]]), np.log([0.5, 0.5])
    step = (1, belief, 0.1, np.array([2**20]))
    noisy = kind.engine.answer(values, *step)
    expected = normal_prior(2.5, (-1.0, 3.0))
    drawn, own = kind.given(noisy), ValueKind((-1.0, 3.0), 1, expected).given(noisy)
    assert noisy.deviations[0, 0] > 1
    assert 1.0 < drawn[0, 0] < noisy.answers[0, 0]
    assert 2.5 < own[0, 0] < noisy.answers[0, 0]
    assert ValueKind((-1.0, 3.0), 1).given(noisy) is noisy.answers


def test_scores_are_those_of_scikit_learn():
    told, truth, weights = np.array([0, 1, 1]), np.array([0, 1, 0]), [1.0, 1.0, 2.0]
    assert answers_score(LabelKind(np.arange(2)), truth, told) == pytest.approx(2 / 3)
    assert answers_score(ProbabilityKind(np.arange(2)), truth, told, weights) == 0.5
    numbers = ValueKind((0, 1), 1)
    assert answers_score(numbers, truth, told) == r2_score(truth, told)
    assert answers_score(numbers, truth, told, weights) == r2_score(
        truth, told, sample_weight=weights
    )
    assert numbers.predicted(told) is told
