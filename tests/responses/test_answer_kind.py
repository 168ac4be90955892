"""Labels, shares and numbers: what each kind asks, answers and costs to ask again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from pacsklearn import PACPrivate
from pacsklearn.plugin import registry
from pacsklearn.responses.answer_kind import LabelKind, ProbabilityKind, ValueKind, answer_kind

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
    model = PACPrivate(SVC(), n_subsets=16).fit(X, y)
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
