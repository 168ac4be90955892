"""Searches inside the subset release the best model and nothing of the search."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from pacsklearn import SecretSpace
from pacsklearn.candidates.candidates import Candidates
from pacsklearn.candidates.outputs import candidate_outputs
from pacsklearn.canonical.search import SearchCanonicalizer
from pacsklearn.exceptions import GaugeError, NoCanonicalizerError, StructureMismatchError
from pacsklearn.plugin import registry


def search(**grid: Any) -> GridSearchCV:
    return GridSearchCV(LinearSVC(C=3.125), grid, cv=3)


def test_what_was_found_best_is_not_released() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = search(C=[0.0078125]).fit(X, y)
    canonicalizer = registry().canonicalizer("auto", fitted)
    assert isinstance(canonicalizer, SearchCanonicalizer)
    released = canonicalizer.decode(*canonicalizer.encode(fitted, X), search(C=[0.0078125]))
    assert type(released) is LinearSVC
    assert released.C == 3.125
    assert np.array_equal(released.predict(X), fitted.predict(X))
    assert b"best_" not in pickle.dumps(released)
    assert b"cv_results_" not in pickle.dumps(released)


def test_without_refit_there_is_no_model() -> None:
    with pytest.raises(NoCanonicalizerError, match=r"refit=False\) has no best_estimator_"):
        registry().canonicalizer("auto", GridSearchCV(LinearSVC(), {}, refit=False))


def test_a_search_over_what_the_released_model_does_with_its_numbers_is_refused() -> None:
    from sklearn.linear_model import TweedieRegressor

    X = load_iris().data
    estimator = GridSearchCV(TweedieRegressor(power=0), {"power": [1.5]}, cv=3)
    canonicalizer = registry().canonicalizer("auto", estimator)
    space = SecretSpace.balanced(150, n_subsets=2)
    prepared = Candidates.prepare(estimator, X[:, 1:], X[:, 0], space)
    with pytest.raises(GaugeError, match="GridSearchCV"):
        candidate_outputs(prepared, canonicalizer)


def test_a_search_over_the_number_of_parts_names_what_differs() -> None:
    from sklearn.cluster import KMeans

    class BySize(KMeans):
        """Scores best with the number of clusters its rows ask for."""

        def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
            return -abs(self.n_clusters - (2 if X[:, 0].mean() > self._middle else 3))

        _middle = load_iris().data[:, 0].mean()

    X = np.sort(load_iris().data, axis=0)
    space = SecretSpace.from_subsets([np.arange(75), np.arange(75, 150)], 150)
    estimator = GridSearchCV(BySize(n_init=1), {"n_clusters": [2, 3]}, cv=2)
    canonicalizer = registry().canonicalizer("auto", estimator)
    with pytest.raises(StructureMismatchError, match=r"centres: shape \(3, 4\) against \(2, 4\)"):
        candidate_outputs(Candidates.prepare(estimator, X, None, space), canonicalizer)
