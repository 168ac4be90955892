"""Weights reach the fit of each subset cut to its rows; groups stay with PACPrivate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.secrets import balanced_space

M = 8
# Far above ln(8): the release is one candidate's exact model.
NO_NOISE = Nats(50.0, allow_exact=True)


class WeightRecorder(LinearRegression):
    """Its intercept is the sum of the weights it was fitted with."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WeightRecorder:
        super().fit(X, y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        assert weights.shape == (len(y),)
        self.coef_, self.intercept_ = np.zeros(X.shape[1]), float(weights.sum())
        return self


def private(model: Any, **params: Any) -> PACPrivate:
    return PACPrivate(model, **{"secret": Subsets(M, blocks=None), "budget": NO_NOISE, **params})


def candidate_sums(weights: Any, groups: Any = None) -> Any:
    space = balanced_space(len(weights), n_subsets=M, groups=groups)
    return np.array([np.sum(np.asarray(weights)[space.rows(i)]) for i in range(M)])


def is_one_of(value: float, sums: Any) -> bool:
    return bool(np.isclose(sums, value, rtol=1e-9).any())


@pytest.fixture
def weights(sizes: Any) -> Any:
    return np.random.default_rng(5).uniform(size=sizes.size)


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def shuffled(values: Any) -> pd.Series:
    """A series whose index says nothing about where its values stand."""
    return pd.Series(values, index=np.roll(np.arange(len(values)), 7))


@pytest.mark.parametrize("kind", [np.asarray, list, shuffled])
def test_weights_are_cut_to_the_subset(kind: Any, iris: Any, sizes: Any, weights: Any) -> None:
    released = private(WeightRecorder()).fit(iris[0], sizes, sample_weight=kind(weights))
    assert is_one_of(released.released_estimator_.intercept_, candidate_sums(weights))


def test_weights_reach_a_step_of_a_pipeline(iris: Any, sizes: Any, weights: Any) -> None:
    model = make_pipeline(StandardScaler(), WeightRecorder())
    released = private(model).fit(iris[0], sizes, weightrecorder__sample_weight=weights)
    assert is_one_of(released.released_estimator_.intercept_, candidate_sums(weights))
    with pytest.raises(ValueError, match="weightrecorder__sample_weight"):
        private(model).fit(iris[0], sizes, sample_weight=weights)


def test_requested_weights_are_routed(iris: Any, sizes: Any, weights: Any, routing: None) -> None:
    asking = WeightRecorder().set_fit_request(sample_weight=True)
    released = private(asking).fit(iris[0], sizes, sample_weight=weights)
    assert is_one_of(released.released_estimator_.intercept_, candidate_sums(weights))
    refusing = WeightRecorder().set_fit_request(sample_weight=False)
    with pytest.raises(TypeError, match="sample_weight"):
        private(refusing).fit(iris[0], sizes, sample_weight=weights)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        private(WeightRecorder()).fit(iris[0], sizes, sample_weight=weights)
    renaming = WeightRecorder().set_fit_request(sample_weight="importance")
    released = private(renaming).fit(iris[0], sizes, importance=weights)
    assert is_one_of(released.released_estimator_.intercept_, candidate_sums(weights))


@pytest.mark.filterwarnings("ignore:Parts of Pipeline around")
def test_weights_are_routed_through_an_outer_pipeline(
    iris: Any, sizes: Any, weights: Any, routing: None
) -> None:
    asking = WeightRecorder().set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, private(asking))
    pipeline.fit(iris[0], sizes, sample_weight=weights)
    assert is_one_of(pipeline[-1].released_estimator_.intercept_, candidate_sums(weights))


def test_groups_are_the_unit_of_privacy(iris: Any, sizes: Any) -> None:
    groups = np.arange(sizes.size) // 5
    released = private(WeightRecorder()).fit(iris[0], sizes, groups=groups)
    assert released.guarantee_.secret.unit == "group"
    assert released.guarantee_.secret.n_units == 30
    rows = released.released_estimator_.intercept_
    assert is_one_of(rows, candidate_sums(np.ones(sizes.size), groups))
    assert round(rows) % 5 == 0


@pytest.mark.filterwarnings("ignore:Parts of Pipeline around")
def test_groups_are_routed_to_a_step(iris: Any, sizes: Any, routing: None) -> None:
    groups = np.arange(sizes.size) // 5
    asking = private(WeightRecorder()).set_fit_request(groups=True)
    pipeline = make_pipeline(StandardScaler(), asking).fit(iris[0], sizes, groups=groups)
    assert pipeline[-1].guarantee_.secret.unit == "group"
    both = cross_validate(
        asking, iris[0], sizes, cv=GroupKFold(3), params={"groups": groups}, return_estimator=True
    )
    assert all(model.guarantee_.secret.unit == "group" for model in both["estimator"])


def test_scores_are_weighted_when_asked(iris: Any, weights: Any, routing: None) -> None:
    X, y = iris
    asking = private(
        LinearSVC().set_fit_request(sample_weight=True), random_state=None
    ).set_score_request(sample_weight=True)
    search = GridSearchCV(asking, {"budget": [NO_NOISE]}, cv=2)
    search.fit(X, y, sample_weight=weights)
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize(
    ("model", "params", "error", "message"),
    [
        (Ridge(), {"sample_weight": np.ones(75)}, ValueError, "sample_weight"),
        (Ridge(), {"sample_weight": np.full(150, np.nan)}, ValueError, "sample_weight"),
        (LinearDiscriminantAnalysis(), {"sample_weight": np.ones(150)}, TypeError, "takes"),
        # A warm start brings in rows of other subsets, and SGD fits it in place.
        (SGDClassifier(), {"coef_init": np.ones((3, 4))}, ValueError, "rows"),
    ],
    ids=["length", "nan", "unknown", "warm start"],
)
def test_what_a_subset_may_not_get_is_refused(
    model: Any, params: dict[str, Any], error: type[Exception], message: str, iris: Any
) -> None:
    with pytest.raises(error, match=message):
        private(model).fit(*iris, **params)
