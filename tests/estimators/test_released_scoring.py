"""What a released model can be scored with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from pacsklearn.estimators.privacy_curve import privacy_utility_curve

SMALL = {"n_subsets": 16, "n_releases": 8}
BUDGETS = [1 / 16, 1.0]


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (None, "accuracy"),
        ("balanced_accuracy", "balanced_accuracy"),
        (make_scorer(balanced_accuracy_score), "_Scorer"),
    ],
)
def test_scoring_of_classifiers(iris: Any, scoring: Any, name: str) -> None:
    made = privacy_utility_curve(RidgeClassifier(), *iris, budgets=[100], scoring=scoring, **SMALL)
    assert made.scoring == name
    # The held-out rows are balanced, so both scores agree.
    assert made.all_rows_score == pytest.approx(0.84, abs=0.1)


def test_a_search_is_scored_as_the_model_it_releases(iris: Any) -> None:
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1]}, cv=2, scoring="f1_macro")
    made = privacy_utility_curve(search, *iris, budgets=[100], **SMALL)
    assert made.scoring == "accuracy"
    assert 0.7 < made.all_rows_score <= 1


def test_regressors_and_clusterers() -> None:
    X, y = load_diabetes(return_X_y=True)
    made = privacy_utility_curve(Ridge(), X, y, budgets=BUDGETS, **SMALL)
    assert made.scoring == "R²"
    assert made.points[0].median < made.noiseless_score
    found = privacy_utility_curve(KMeans(3, n_init=1), X, budgets=[100], **SMALL)
    assert found.scoring == "score"
    assert found.noiseless_score < 0


def test_transformers_are_scored_by_a_callable(iris: Any) -> None:
    X, _ = iris

    def kept(model: Any, X_test: Any, y_test: Any) -> float:
        assert y_test is None
        rebuilt = model.inverse_transform(model.transform(X_test))
        return -float(np.mean((rebuilt - X_test) ** 2))

    made = privacy_utility_curve(PCA(2), X, budgets=BUDGETS, scoring=kept, **SMALL)
    assert made.scoring == "kept"
    low, high = made.points
    assert low.mean < high.mean <= made.noiseless_score + 1e-3


@pytest.mark.parametrize(
    ("estimator", "scoring", "match"),
    [
        (PCA(2), None, r"scoring=None.*released PCA offers transform.*scoring=callable"),
        (PCA(2), "accuracy", r"scoring='accuracy'.*released PCA offers transform"),
        (StandardScaler(), None, r"scoring=None.*StandardScaler"),
        (KMeans(3), "rand_score", r"scoring='rand_score' compares with true values; pass y"),
    ],
)
def test_scores_a_released_model_lacks(iris: Any, estimator: Any, scoring: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        privacy_utility_curve(estimator, iris[0], scoring=scoring, **SMALL)
