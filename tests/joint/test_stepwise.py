"""Joint fits of stepwise models, and of pipelines behind encoders, against ordinary ones."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from pacsklearn import Nats, PACPrivate, Subsets, config_context
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.joint.encoded import EncodedFitter
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import Column, Schema, SchemaEncoder, StepwiseClassifier, StepwiseRegressor

M = 8


def assert_same(estimator: Any, X: Any, y: Any, *, tolerance: float = 1e-8) -> None:
    space = balanced_space(len(y), n_subsets=M, strata=y if y.dtype.kind != "f" else None)
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    take = X.iloc if hasattr(X, "iloc") else X
    for index, model in enumerate(fitter.fit_all(estimator, X, y, space)):
        assert model is not None
        rows = space.rows(index)
        ordinary = clone(estimator).fit(take[rows], y[rows])
        last, expected = (getattr(one, "steps", [("", one)])[-1][1] for one in (model, ordinary))
        size = np.abs(expected.coef_).max()
        np.testing.assert_allclose(last.coef_, expected.coef_, atol=tolerance * size)
        np.testing.assert_allclose(
            last.intercept_, expected.intercept_, atol=tolerance * size * 1e3
        )
        assert vars(last).keys() == vars(expected).keys()
        np.testing.assert_array_equal(model.predict(X), ordinary.predict(X)) if hasattr(
            ordinary, "classes_"
        ) else np.testing.assert_allclose(model.predict(X), ordinary.predict(X), rtol=1e-6)


@pytest.mark.product(only=4)
@pytest.mark.parametrize(
    "model",
    [
        StepwiseClassifier(3),
        StepwiseClassifier(2, ridge=0.1),
        StepwiseClassifier(0, ridge=1.0),
        make_pipeline(StandardScaler(), StepwiseClassifier(3)),
        make_pipeline(StandardScaler(), StepwiseClassifier(0, ridge=10.0)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_classifiers(model: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    X = X[:, :8] / X[:, :8].std(axis=0)
    assert_same(model, X, np.array(["a", "b", "c"])[y])


@pytest.mark.parametrize("model", [StepwiseRegressor(3), StepwiseRegressor(2, ridge=0.1)], ids=repr)
def test_regressors(model: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    assert_same(model, X * 10 + 1, y)
    assert_same(make_pipeline(StandardScaler(), model), X * 10 + 1, y)


@pytest.fixture
def table() -> tuple[pd.DataFrame, Schema, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].assign(size=np.where(X["mean area"] > 600, "large", "small"))
    schema = Schema(
        [
            *(Column(name, low=0.0, high=float(np.ceil(X[name].max()))) for name in X.columns[:4]),
            Column("size", "category", categories=("small", "large")),
        ]
    )
    return X, schema, y.to_numpy()


@pytest.mark.parametrize(
    ("numbers", "steps", "tolerance"),
    [
        # One of its bounds is reached by every row.
        ("thermometer", (StepwiseClassifier(3),), 1e-8),
        ("scaled", (StandardScaler(), LogisticRegression(C=0.1, tol=1e-10, max_iter=5000)), 1e-4),
        ("scaled", (PolynomialFeatures(2, include_bias=False), StepwiseClassifier(3)), 1e-8),
    ],
    ids=["stepwise", "scaled", "products"],
)
def test_pipelines_behind_an_encoder(
    table: Any, numbers: str, steps: Any, tolerance: float
) -> None:
    X, schema, y = table
    estimator = make_pipeline(SchemaEncoder(schema, numbers=numbers, missing="ignore"), *steps)
    assert isinstance(registry().subset_fitter_for(estimator), EncodedFitter)
    assert_same(estimator, X, y, tolerance=tolerance)


def test_pipelines_behind_two_encoders(table: Any) -> None:
    X, schema, y = table
    encoders = make_union(
        SchemaEncoder(schema, missing="ignore"),
        SchemaEncoder(schema, numbers="thermometer", missing="ignore"),
    )
    estimator = make_pipeline(encoders, StepwiseClassifier(3))
    assert isinstance(registry().subset_fitter_for(estimator), EncodedFitter)
    assert_same(estimator, X, y, tolerance=1e-8)
    learns = make_union(
        SchemaEncoder(schema), make_pipeline(SchemaEncoder(schema), StandardScaler())
    )
    assert registry().subset_fitter_for(make_pipeline(learns, StepwiseClassifier())) is None


SIZES = [["small", "large"]]
SCALED = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")),
    (OneHotEncoder(categories=SIZES), ["size"]),
)


@pytest.mark.parametrize(
    "encoder",
    [
        make_column_transformer(
            (OneHotEncoder(categories=SIZES), ["size"]), remainder="passthrough"
        ),
        make_column_transformer(
            (OneHotEncoder(categories=[[*"abcdefgh", "small", "large"]]), ["size"]),
            ("passthrough", make_column_selector("mean radius")),
        ),
        make_column_transformer(
            (OneHotEncoder(categories=SIZES, sparse_output=False), ["size"]),
            ("passthrough", slice(0, 2)),
        ),
        make_column_transformer((OrdinalEncoder(categories=SIZES), ["size"])),
        OneHotEncoder(categories=SIZES),
        SCALED,
        make_column_transformer(
            (OneHotEncoder(categories=SIZES), ["size"]),
            (StandardScaler(with_mean=False), [0]),
            remainder=StandardScaler(with_std=False),
            sparse_threshold=1.0,
        ),
    ],
    ids=["dense", "sparse", "sparse_output", "ordinal", "alone", "scaled", "scaled, sparse"],
)
def test_pipelines_behind_listed_categories(table: Any, encoder: Any) -> None:
    X, _, y = table
    X = X.assign(**{name: X[name] / X[name].max() for name in X.columns[:4]})
    if not hasattr(encoder, "transformers"):
        X = X[["size"]]
    last = LogisticRegression(C=0.1, tol=1e-10, max_iter=5000)
    estimator = make_pipeline(encoder, last)
    assert isinstance(registry().subset_fitter_for(estimator), EncodedFitter)
    assert_same(estimator, X, y, tolerance=1e-4)


def test_column_transformers_that_candidates_may_lay_out_otherwise(table: Any) -> None:
    X, _, y = table
    space = balanced_space(len(y), n_subsets=M)
    unsure = make_column_transformer(
        (OneHotEncoder(categories=[[*"abcd", "small"]], handle_unknown="ignore"), slice(4, 5)),
        ("passthrough", ["mean radius"]),
        sparse_threshold=0.2,
    )
    estimator = make_pipeline(unsure, LogisticRegression())
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    assert fitter.fit_all(estimator, X, y, space) == [None] * M
    some = make_pipeline(make_column_transformer(("passthrough", [0, 1])), LogisticRegression())
    fitter = registry().subset_fitter_for(some)
    assert fitter is not None
    cells = sparse.csr_array(X.iloc[:, :4].to_numpy())
    assert fitter.fit_all(some, cells, y, space) == [None] * M

    def by_the_rows(rows: Any) -> list[str]:
        return [name for name in rows.columns[:4] if rows[name].mean() > 20]

    for learns in (
        make_column_transformer((StandardScaler(), by_the_rows)),
        clone(SCALED).set_params(transformer_weights={"standardscaler": 2.0}),
        make_column_transformer(("passthrough", by_the_rows)),
        make_column_transformer((OneHotEncoder(), ["size"])),
    ):
        assert registry().subset_fitter_for(make_pipeline(learns, LogisticRegression())) is None


@pytest.mark.parametrize(
    "last",
    [Ridge(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5), GaussianNB()],
    ids=repr,
)
def test_scalers_beside_encoders_are_each_candidates_own(table: Any, last: Any) -> None:
    X, _, y = table
    space = balanced_space(len(y), n_subsets=M)
    estimator = make_pipeline(SCALED, last)
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    for index, model in enumerate(fitter.fit_all(estimator, X, y, space)):
        rows = space.rows(index)
        ordinary = clone(estimator).fit(X.iloc[rows], y[rows])
        assert fitter.agrees(model, ordinary, X.iloc[rows], y[rows]) in (True, None)
        np.testing.assert_allclose(model[:-1].transform(X), ordinary[:-1].transform(X), rtol=1e-9)
        np.testing.assert_allclose(model.predict(X), ordinary.predict(X), rtol=1e-6)
        one, other = (each[0].transformers_[0][1] for each in (model, ordinary))
        assert vars(one).keys() == vars(other).keys()
        np.testing.assert_array_equal(one.get_feature_names_out(), other.get_feature_names_out())
    moved = deepcopy(ordinary)
    moved[0].transformers_[0][1].mean_ += 1.0
    assert fitter.agrees(model, moved, X.iloc[rows], y[rows]) is False


def test_scalers_of_single_precision_or_of_gaps_are_fitted_alone(table: Any) -> None:
    X, _, y = table
    space = balanced_space(len(y), n_subsets=M)
    last = LogisticRegression()
    estimator = make_pipeline(SCALED, last)
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    single = X.astype(dict.fromkeys(X.columns[:4], np.float32))
    for rows in (single, X.assign(**{"mean radius": np.nan})):
        assert fitter.fit_all(estimator, rows, y, space) == [None] * M
    # scikit-learn refuses to centre sparse rows.
    centred = make_pipeline(clone(SCALED).set_params(sparse_threshold=1.0), StandardScaler(), last)
    fitter = registry().subset_fitter_for(centred)
    assert fitter is not None
    assert fitter.fit_all(centred, X, y, space) == [None] * M


def test_numbers_behind_products() -> None:
    X, y = load_diabetes(return_X_y=True)
    products = PolynomialFeatures(2, include_bias=False)
    assert_same(make_pipeline(products, Ridge(1.0)), X[:, :4] * 10, y)
    assert_same(make_pipeline(products, StepwiseRegressor(3)), X[:, :4] * 10, y)


def test_steps_that_learn_are_no_encoders(table: Any) -> None:
    _, schema, _ = table
    learns = make_pipeline(StandardScaler(), StepwiseClassifier())
    assert not isinstance(registry().subset_fitter_for(learns), EncodedFitter)
    framed = make_pipeline(
        SchemaEncoder(schema).set_output(transform="pandas"), StepwiseClassifier()
    )
    assert registry().subset_fitter_for(framed) is None
    alone = make_pipeline(SchemaEncoder(schema))
    assert registry().subset_fitter_for(alone) is None


def test_a_release_checks_the_joint_fit(table: Any) -> None:
    X, schema, y = table
    estimator = make_pipeline(SchemaEncoder(schema), StepwiseClassifier(2))
    joint = PACPrivate(estimator, secret=Subsets(M, seed=0), random_state=0, budget=Nats(1.0))
    single = clone(joint)
    with pytest.warns(PrivacyLeakWarning):
        one = joint.fit(X, y)
    with config_context(fast_fit=False), pytest.warns(PrivacyLeakWarning):
        other = single.fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


def test_scalers_beside_encoders_may_work_in_place(table: Any) -> None:
    X, _, y = table
    rows = np.column_stack([X["size"] == "large", X.iloc[:, :2]]).astype(float)
    parts = make_column_transformer(
        (OneHotEncoder(categories=[[0.0, 1.0]], sparse_output=False), slice(0, 1)),
        (StandardScaler(copy=False), slice(1, 3)),
    )
    model = make_pipeline(parts, LogisticRegression(C=0.1))
    before = rows.copy()
    PACPrivate(model, 1 / 2, secret=Subsets(M)).fit(rows, y)
    np.testing.assert_array_equal(rows, before)
