"""Affine maps of fitted transformers, and what they are folded into."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from pacsklearn.canonical.affine import affine_map, is_affine

AFFINE = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler((-2, 3)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    RobustScaler(unit_variance=True),
    PCA(3),
    PCA(whiten=True),
    TruncatedSVD(3),
    SelectKBest(k=4),
    VarianceThreshold(0.01),
]


class Odd(StandardScaler):
    """Not affine, although its parent is."""

    def transform(self, X: Any) -> Any:
        return np.abs(super().transform(X))


@pytest.mark.product(only=5)
@pytest.mark.parametrize("transformer", AFFINE, ids=repr)
def test_a_folded_model_sees_what_the_steps_would_have_shown(transformer: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert is_affine(transformer)
    fitted = transformer.fit(X, y)
    shown = fitted.transform(X)
    generator = np.random.default_rng(0)
    coef, intercept = generator.normal(size=(2, shown.shape[1])), generator.normal(size=2)
    moved, shifted = affine_map(fitted).pull_back(coef, intercept)
    assert isinstance(moved, np.ndarray)
    assert moved.shape == (2, X.shape[1])
    expected = shown @ coef.T + intercept
    assert X @ moved.T + shifted == pytest.approx(expected, rel=1e-9, abs=1e-9 * expected.max())


@pytest.mark.parametrize(
    "transformer",
    [MinMaxScaler(clip=True), Normalizer(), QuantileTransformer(), Odd(), "drop"],
    ids=str,
)
def test_others_are_not_affine(transformer: Any) -> None:
    assert not is_affine(transformer)


@pytest.mark.parametrize("nothing", [None, "passthrough"])
def test_doing_nothing_is_affine(nothing: Any) -> None:
    assert is_affine(nothing)


def test_selecting_among_many_features_costs_little_memory() -> None:
    generator = np.random.default_rng(0)
    selector = SelectKBest(k=5).fit(generator.normal(size=(6, 20_000)), [0, 1] * 3)
    tracemalloc.start()
    try:
        moved, _ = affine_map(selector).pull_back(np.ones((1, 5)), np.zeros(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(np.flatnonzero(moved[0]), selector.get_support(indices=True))
    assert peak < 5e6  # p x p would be 3.2 GB
