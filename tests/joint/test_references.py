"""Joint fits without numba: the same numbers in every fitted attribute, to the last bit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.naive_bayes import GaussianNB

from pacsklearn import PACPrivate, Subsets
from pacsklearn.joint import kmeans
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier, FixedStructureForestRegressor
from tests.joint.together import together
from tests.references import by_loops, by_reference

M = 6
ESTIMATORS = [
    KMeans(3, random_state=0),
    KMeans(8, random_state=1, n_init=3, tol=0.0),
    KMeans(4, random_state=2, max_iter=2),
    Lasso(alpha=0.1),
    ElasticNet(alpha=0.05, positive=True),
    Ridge(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    FixedStructureForestClassifier(4, depth=3),
    FixedStructureForestClassifier(3, feature_range=(-30, 30), leaves="votes"),
    FixedStructureForestClassifier(3, thresholds="random", class_weight="balanced"),
    FixedStructureForestRegressor(4, depth=3),
    FixedStructureForestRegressor(3, thresholds="random"),
]


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmeans, "_LEAST_WORK", 0)


def assert_same_fits(estimator: Any, X: Any, y: Any) -> None:
    space = balanced_space(len(X), n_subsets=M)
    work = partial(together, estimator, X, y, space)
    for loops, reference in zip(by_loops(work), by_reference(work), strict=True):
        assert (loops is None) == (reference is None)
        if loops is None:  # one class, or numbers that do not suit the joint fit
            continue
        assert vars(loops).keys() == vars(reference).keys()
        for name, value in vars(loops).items():
            if name.endswith("_"):
                one, other = np.asarray(value), np.asarray(getattr(reference, name))
                assert one.dtype == other.dtype
                assert one.tobytes() == other.tobytes() or one.dtype == object, name


@pytest.mark.product(only=2)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(("n", "p", "scale"), [(60, 2, 1.0), (700, 7, 1e-5), (900, 40, 1e4)])
def test_fits_without_numba(estimator: Any, n: int, p: int, scale: float) -> None:
    rng = np.random.default_rng(n)
    X = scale * (rng.normal(size=(n, p)) * np.linspace(0.5, 3, p) + rng.normal(size=p))
    X[:, 0] = scale * np.round(X[:, 0] / scale)  # ties
    numbers = X @ rng.normal(size=p) + scale * rng.normal(size=n)
    y = (
        np.digitize(numbers, np.quantile(numbers, [0.3, 0.7]))
        if is_classifier(estimator)
        else numbers
    )
    assert_same_fits(estimator, X, y)


@pytest.mark.soak
@given(st.data())
@settings(max_examples=40)
def test_any_clusters_without_numba(data: Any) -> None:
    """Rows that are equal, or as far from two centres: the first of these has them."""
    n, p = data.draw(st.integers(20, 60)), data.draw(st.integers(1, 3))
    number = st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6) | st.just(1 + 2.0**-50)
    X = np.array(data.draw(st.lists(number, min_size=n * p, max_size=n * p))).reshape(n, p)
    k = data.draw(st.integers(2, 5))

    def fitted() -> list[Any]:
        found = []
        for start in range(0, n, 20):
            model, rows = KMeans(k, random_state=start, n_init=2), X[start : start + 20].copy()
            done = kmeans.fit_kmeans(model, rows)
            found.append(
                [
                    done,
                    *(
                        vars(model).get(f"{name}_")
                        for name in ("labels", "cluster_centers", "inertia", "n_iter")
                    ),
                ]
            )
        return found

    for one, other in zip(by_loops(fitted), by_reference(fitted), strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


SMALL = [
    GaussianNB(),
    Lasso(alpha=0.1),
    LinearDiscriminantAnalysis(),
    FixedStructureForestClassifier(2, depth=2),
    FixedStructureForestClassifier(2, depth=2, thresholds="random"),
    FixedStructureForestRegressor(2, depth=2),
]


@pytest.mark.soak
@given(st.data())
@settings(max_examples=40)
def test_any_small_table_without_numba(data: Any) -> None:
    """Few rows, columns that are constant, numbers that are equal or stand on a threshold."""
    estimator = data.draw(st.sampled_from(SMALL))
    n, p = data.draw(st.integers(4, 24)), data.draw(st.integers(1, 4))
    number = st.integers(-2, 2).map(float) | st.sampled_from([0.1, 1e6, -0.0, 1 + 2.0**-52])
    X = np.array(data.draw(st.lists(number, min_size=n * p, max_size=n * p))).reshape(n, p)
    code = st.integers(0, 1) if is_classifier(estimator) else number
    y = np.array(data.draw(st.lists(code, min_size=n, max_size=n)))
    assert_same_fits(estimator, X, y)


def test_a_release_without_numba() -> None:
    """Law, integers, charge and what is published."""
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2

    def released() -> tuple[Any, ...]:
        model = PACPrivate(GaussianNB(), secret=Subsets(16, seed=0), random_state=0).fit(X, y)
        return model.released_estimator_.theta_.tobytes(), model.guarantee_.to_json()

    with pytest.warns(UserWarning, match="random_state"):
        assert by_loops(released) == by_reference(released)
