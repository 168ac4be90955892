from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pacsklearn import Answers, PACPrivate, Subsets, config_context
from pacsklearn.exceptions import SubsetFitError


def refuse(X):
    if len(X) > 1 and (X[:, 0] == 7.25).any():
        raise ValueError(f"cannot work with {X[X[:, 0] == 7.25][0].tolist()}")
    return X


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[3] = 7.25
    return X, np.arange(60) % 2


def private(**parameters):
    model = make_pipeline(FunctionTransformer(refuse), LogisticRegression())
    return PACPrivate(model, secret=Subsets(8), **parameters)


def test_the_error_is_shown_to_the_curator_and_to_nobody_else(rows, capfd):
    with config_context(debug=True), pytest.raises(SubsetFitError, match="debug") as caught:
        private().fit(*rows)
    shown = capfd.readouterr().err
    assert f"Candidate {caught.value.subset} fitted by itself" in shown
    assert "cannot work with [7.25, 7.25]" in shown
    assert "7.25" not in str(caught.value)
    assert caught.value.__cause__ is None


class Silent(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        raise ValueError("cannot answer 7.25")


def test_so_is_the_error_of_a_model_that_cannot_answer(rows, capfd):
    silent = PACPrivate(Silent(), secret=Subsets(8), release=Answers())
    with config_context(debug=True), pytest.raises(SubsetFitError, match="debug") as caught:
        silent.fit(*rows)
    assert "cannot answer 7.25" in capfd.readouterr().err
    assert "7.25" not in str(caught.value)


def test_nothing_is_shown_unless_asked(rows, capfd):
    with pytest.raises(SubsetFitError):
        private().fit(*rows)
    assert "7.25" not in capfd.readouterr().err
