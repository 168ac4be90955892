"""Models of all candidates, stacked or one by one, and what their fits are given."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Answers, Nats, PACPrivate
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.plugins import BatchPredictor, register, unregister
from pacsklearn.secrets import balanced_space
from pacsklearn.universe.design import candidates_over
from pacsklearn.universe.listed_space import listed_space
from tests.kernel.answers.contested import M, contested_rows, session_on


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return contested_rows()


@pytest.mark.product(only=5)
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        Perceptron(),
        SGDClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stacked_labels_are_every_models_own(rows: Any, model: Any, n_classes: int) -> None:
    X, y = rows
    names = np.array(["b", "a", "c"])[y % n_classes]
    space = balanced_space(80, n_subsets=M, strata=names[:80])
    models = candidate_models(candidates_over(model, X[:80], names[:80], space))
    assert models.stacked is not None
    classes = np.unique(names)
    codes = models.labels(X, classes)
    for i, fitted in enumerate(models.models):
        np.testing.assert_array_equal(classes[codes[:, i]], fitted.predict(X))


def test_stacked_values_are_every_models_own() -> None:
    X, y = make_regression(60, 3, n_targets=2, random_state=0)
    space = balanced_space(60, n_subsets=M)
    for model in (LinearRegression(), make_pipeline(StandardScaler(), Ridge())):
        models = candidate_models(candidates_over(model, X, y, space))
        assert models.stacked is not None
        found = models.values(X, "predict", 2)
        for i, fitted in enumerate(models.models):
            np.testing.assert_allclose(found[:, i], fitted.predict(X), rtol=1e-9, atol=1e-9)
    assert candidate_models(candidates_over(KNeighborsRegressor(), X, y, space)).stacked is None


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_a_class_that_no_candidate_has_seen_has_its_own_code(rows: Any, model: Any) -> None:
    X, y = rows
    seen = np.flatnonzero(y > 0)
    space = listed_space([seen[::2], seen[1::2]], len(y))
    models = candidate_models(candidates_over(model, X, y, space))
    for i, fitted in enumerate(models.models):
        np.testing.assert_array_equal(models.labels(X, np.arange(3))[:, i], fitted.predict(X))
        shares = models.values(X, "predict_proba", 3, np.arange(3))[:, i]
        np.testing.assert_allclose(shares, np.insert(fitted.predict_proba(X), 0, 0, axis=1))


def test_many_rows_are_asked_a_part_at_a_time(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All candidates' answers to a part are held at once; in which one a row is shows nowhere."""
    X, y = rows
    asked: list[int] = []

    class Counting(GaussianNB):
        def predict_proba(self, X: Any) -> Any:
            asked.append(len(X))
            return super().predict_proba(X)

    space = balanced_space(80, n_subsets=M, strata=y[:80])
    models = candidate_models(candidates_over(Counting(), X[:80], y[:80], space))
    at_once = models.values(X, "predict_proba", 3, np.arange(3))
    asked.clear()
    monkeypatch.setattr("pacsklearn.kernel.outputs.models._MOST_CELLS", 7 * M * 3 + 5)
    np.testing.assert_array_equal(models.values(X, "predict_proba", 3, np.arange(3)), at_once)
    assert asked == [7] * (160 // 7 * M) + [160 % 7] * M


@pytest.mark.parametrize(("n_columns", "is_limited"), [(1200, True), (4, False)])
def test_one_row_of_many_columns_is_kept_to_one_thread(
    n_columns: int, is_limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenBLAS takes several for a matrix of 9216 numbers and a vector; of a few it takes one."""
    X, y = make_regression(60, n_columns, random_state=0)
    models = candidate_models(candidates_over(Ridge(), X, y, balanced_space(60, n_subsets=M)))
    assert models.stacked is not None
    limits: list[int] = []
    monkeypatch.setattr(
        "pacsklearn.kernel.outputs.models.one_blas_thread",
        lambda: limits.append(1) or nullcontext(),
    )
    models.values(X[:1], "predict", 1)
    assert bool(limits) is is_limited


class Watching(KNeighborsClassifier):
    """Takes a validation set, as boosters do."""

    def fit(
        self, X: Any, y: Any, eval_set: Any = None, sample_weight: Any = None, start: Any = None
    ) -> Watching:
        return super().fit(X, y)


@pytest.mark.parametrize("param", ["eval_set", "sample_weight", "start"])
def test_no_rows_of_other_subsets_come_in_through_fit_params(rows: Any, param: str) -> None:
    X, y = rows
    fitted = GaussianNB().fit(X, y)
    given = {"eval_set": [(X, y)], "sample_weight": np.ones(5), "start": fitted}[param]
    session = session_on(rows)
    with pytest.raises(ValueError, match=f"{param} must (have|be) .*one entry"):
        session.respond(Watching(1), X[80:], query_budget=1 / 64, fit_params={param: given})
    own = {"sample_weight": np.ones(80), "start": None}
    assert session.respond(Watching(1), X[80:82], query_budget=1 / 64, fit_params=own).shape == (2,)


def test_the_same_holds_for_released_parameters(rows: Any) -> None:
    with pytest.raises(ValueError, match="sample_weight"):
        session_on(rows).release(
            LogisticRegression(), budget=1 / 4, fit_params={"sample_weight": np.ones(5)}
        )


class Asked(KNeighborsClassifier):
    """Asked by a predictor from outside."""


@pytest.mark.parametrize("n_lines", [1, 5])
def test_a_predictor_that_leaves_out_candidates_is_refused(rows: Any, n_lines: int) -> None:
    class Few(BatchPredictor):
        name = "few"
        estimators = (Asked,)

        @classmethod
        def of(cls, models: Any) -> Any:
            return cls()

        def predict(self, X: Any) -> Any:
            return np.zeros((n_lines, len(X)), dtype=np.int64)

    register(Few)
    try:
        model = PACPrivate(Asked(), budget=Nats(1), release=Answers(4)).fit(*rows)
        with pytest.raises(TypeError, match="one line for each of 128 models"):
            model.predict(rows[0][:3])
    finally:
        unregister(Few)
