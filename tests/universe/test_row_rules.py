"""Rows as an estimator takes them: a table of doubles is taken as it is, the rest is checked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn.universe.row_rules import RowRules

TABLE = np.arange(6.0).reshape(3, 2)


def test_a_table_of_doubles_is_no_copy() -> None:
    assert RowRules.of(SVC()).check(TABLE) is TABLE


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.where(TABLE == 3, np.nan, TABLE), "NaN"),
        (np.where(TABLE == 3, np.inf, TABLE), "infinity"),
        (TABLE[:1], "minimum"),
        (TABLE[:, :0], "feature"),
        (TABLE[0], "Reshape"),
        (TABLE[None], "Found"),
        (TABLE + 0j, "Complex"),
        (np.array([["a", "b"]] * 3), "hold"),
    ],
)
def test_anything_else_is_refused_in_the_same_words(rows: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RowRules.of(SVC()).check(rows, fits=True)


def test_a_gap_passes_where_a_step_fills_it() -> None:
    rows = np.where(TABLE == 3, np.nan, TABLE)
    checked = RowRules.of(make_pipeline(SimpleImputer(), SVC())).check(rows)
    assert np.array_equal(checked, rows, equal_nan=True)


class ByType(ClassifierMixin, BaseEstimator):
    """As LightGBM's: nothing but its fit says that it takes categorical columns."""

    def fit(self, X, y, categorical_feature="auto"):
        self.tree_ = DecisionTreeClassifier().fit(X.assign(city=X["city"].cat.codes), y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X.assign(city=X["city"].cat.codes))


@pytest.mark.parametrize(
    ("model", "as_texts"),
    [
        (HistGradientBoostingClassifier(), False),
        (HistGradientBoostingClassifier(categorical_features=["city"]), True),
        (ByType(), False),
    ],
)
def test_categories_that_the_estimator_itself_encodes(model, as_texts) -> None:
    generator = np.random.default_rng(0)
    cities, ages = np.tile(["north", "south", "west"], 80), generator.normal(size=240)
    texts = pd.DataFrame({"city": cities, "age": ages})
    rows, y = texts.astype({"city": "category"}), (cities == "south") | (ages > 1)
    private = PACPrivate(model, release=Answers(300), secret=Subsets(16))
    assert private.fit(rows, y).score(rows, y) > 0.9
    if isinstance(model, HistGradientBoostingClassifier):  # as texts, from a file
        assert np.array_equal(private.predict(texts[:9]), private.predict(rows[:9]))
    if as_texts:  # its user has named the column
        assert private.fit(texts, y).score(texts, y) > 0.9
        return
    with pytest.raises(ValueError, match="X must hold numbers"):
        private.fit(texts, y)
