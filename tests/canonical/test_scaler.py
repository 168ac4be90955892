"""Scalers keep every option of theirs, columns without variance among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from pacsklearn.canonical.scaler import ImputerCanonicalizer, ScalerCanonicalizer

SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler((-5, 3)),
    MaxAbsScaler(),
    RobustScaler(quantile_range=(5, 95)),
]


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_without_variance(scaler: Any, dtype: Any) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(dtype)
    X[:, 1], X[:, 2] = 0.0, 7.0
    canonicalizer = ScalerCanonicalizer()
    fitted = scaler.fit(X)
    released = canonicalizer.decode(
        *canonicalizer.encode(fitted, X), type(scaler)(**scaler.get_params())
    )
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    assert released.transform(X) == pytest.approx(fitted.transform(X), abs=tolerance)
    back = released.inverse_transform(released.transform(X))
    assert back == pytest.approx(X, abs=10 * tolerance)


def test_the_metric_counts_in_units_of_the_scale() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1e-3, 1e3]
    canonicalizer = ScalerCanonicalizer()
    model = StandardScaler().fit(X)
    vector, layout = canonicalizer.encode(model, X)
    metric = canonicalizer.metric(layout, model, X, np.stack([vector, vector]))
    moves = np.diag([1e-3, 1e3, 1.0, 1.0])
    assert np.sum(metric.root(moves) ** 2, axis=1) == pytest.approx(np.ones(4), rel=0.3)


@pytest.mark.parametrize("strategy", ["constant", "mean"])
def test_zeros_may_be_what_is_missing(strategy: str) -> None:
    X = np.array([[0.0, 1.0], [2.0, 0.0], [4.0, 5.0]])
    # Older scikit-learns warn of the other way that empty columns were kept.
    imputer = SimpleImputer(
        missing_values=0, strategy=strategy, fill_value=7, keep_empty_features=True
    )
    canonicalizer, fitted = ImputerCanonicalizer(), imputer.fit(X)
    released = canonicalizer.decode(
        *canonicalizer.encode(fitted, X), SimpleImputer(**imputer.get_params())
    )
    assert np.array_equal(released.transform(X), fitted.transform(X))
