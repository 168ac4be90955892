"""Impossible vectors decode to valid models: the repair is a function of the vector alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.canonical.cases import (
    BAYES,
    CASES,
    DECOMPOSITIONS,
    FACTORISATIONS,
    MIXTURES,
    PREPROCESSING,
    SCALERS,
    STATELESS,
    Case,
    families,
    names,
)

Floats = NDArray[np.float64]
LEARNING = [case for case in CASES if case not in STATELESS and "nothing" not in case.name]
# A log link turns a large number into an infinite mean, as it would with any such coefficients; so
# does the square of what an absurd scaler hands on, and a share of no votes in some versions.
UNBOUNDED = (
    "Gamma",
    "Poisson",
    "poisson",
    "tweedie_log",
    "scaled_bayes",
    "one_vs_rest_bayes",
    "one_vs_rest_pipeline",
)
FINITE = [case for case in LEARNING if not any(word in case.name for word in UNBOUNDED)]


def absurd(size: int) -> dict[str, Floats]:
    generator = np.random.default_rng(8)
    return {
        "zero": np.zeros(size),
        "huge": 1e9 * generator.normal(size=size),
        "negative": np.full(size, -1e6),
        "tiny": np.full(size, 1e-250),
    }


def sums_elsewhere(case: Case, kind: str) -> bool:
    """Whether scikit-learn's own probabilities of such numbers do not sum to one.

    Several labels have probabilities each; one-vs-rest leaves rows that no class wants; densities
    beyond 1e16 are the same to a log-sum-exp.
    """
    if "label" in case.name:
        return True
    densities = ("GaussianNB", "bayes", "mixture", "votes", "one_vs_rest")
    return kind in ("huge", "negative") and any(word in case.name for word in densities)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", FINITE, ids=names(FINITE))
def test_a_decoded_model_works(case: Case, kind: str) -> None:
    vector = absurd(case.layout.size)[kind]
    released = case.decode(vector)
    for method in case.canonicalizer.methods:
        if method == "inverse_transform" or not hasattr(case.models[0], method):
            continue
        with np.errstate(over="ignore", divide="ignore"):
            said = getattr(released, method)(case.X)
        said = said.toarray() if hasattr(said, "toarray") else np.asarray(said)
        assert said.shape[0] == case.X.shape[0]
        if said.dtype.kind == "f" and method != "predict_log_proba":
            assert np.all(np.isfinite(said))
        if method == "predict_proba" and not sums_elsewhere(case, kind):
            assert np.sum(said, axis=1) == pytest.approx(np.ones(len(said)))
    again = case.decode(vector)
    assert vars(again).keys() == vars(released).keys()


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", SCALERS, ids=names(SCALERS))
def test_scales_are_positive(case: Case, kind: str) -> None:
    scaler = case.decode(absurd(case.layout.size)[kind])
    if scaler.scale_ is not None:
        assert np.all(scaler.scale_ > 0)
        assert np.all(np.isfinite(scaler.scale_))
    if getattr(scaler, "var_", None) is not None:
        assert np.all(scaler.var_ > 0)
    if hasattr(scaler, "data_range_"):
        assert np.all(scaler.data_max_ >= scaler.data_min_)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", DECOMPOSITIONS, ids=names(DECOMPOSITIONS))
def test_components_are_orthonormal_and_variances_positive(case: Case, kind: str) -> None:
    model: Any = case.decode(absurd(case.layout.size)[kind])
    axes = model.components_
    assert axes @ axes.T == pytest.approx(np.eye(len(axes)), abs=1e-9)
    if getattr(model, "whiten", False):
        variances = model.explained_variance_
        assert np.all(variances > 0)
        assert np.all(np.diff(variances) <= 0)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", BAYES, ids=names(BAYES))
def test_probabilities_and_variances_are_valid(case: Case, kind: str) -> None:
    model: Any = case.decode(absurd(case.layout.size)[kind])
    for name in ("class_prior_", "priors_"):
        shares = getattr(model, name, np.ones(1))
        assert np.all(shares > 0)
        assert shares.sum() == pytest.approx(1.0)
    for name in ("var_", "within_class_std_dev_"):
        assert np.all(getattr(model, name, 1.0) > 0)
    for variances in getattr(model, "scalings_", []):
        assert np.all(variances > 0)
    if "BernoulliNB" in case.name:
        assert np.all(model.feature_log_prob_ < 0)
    if "MultinomialNB" in case.name or "CategoricalNB" in case.name:
        tables = model.feature_log_prob_
        for table in tables if isinstance(tables, list) else [tables]:
            assert np.exp(table).sum(axis=1) == pytest.approx(1.0)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", MIXTURES, ids=names(MIXTURES))
def test_covariances_are_valid(case: Case, kind: str) -> None:
    model: Any = case.decode(absurd(case.layout.size)[kind])
    assert np.all(model.weights_ > 0)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.all(np.isfinite(model.precisions_cholesky_))
    if model.covariance_type in ("full", "tied"):
        for matrix in np.atleast_3d(model.covariances_.T).T:
            assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * np.abs(matrix).max()
    else:
        assert np.all(model.covariances_ > 0)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["huge", "negative"])
@pytest.mark.parametrize("case", PREPROCESSING, ids=names(PREPROCESSING))
def test_quantiles_and_edges_rise(case: Case, kind: str) -> None:
    model: Any = case.decode(absurd(case.layout.size)[kind])
    if hasattr(model, "quantiles_"):
        assert np.all(np.diff(model.quantiles_, axis=0) >= 0)
    for edges in getattr(model, "bin_edges_", []):
        assert np.all(np.diff(edges) >= 0)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("kind", ["zero", "huge", "negative", "tiny"])
@pytest.mark.parametrize("case", FACTORISATIONS, ids=names(FACTORISATIONS))
def test_factors_are_not_negative(case: Case, kind: str) -> None:
    factors = case.decode(absurd(case.layout.size)[kind]).components_
    assert np.all(factors >= 0)
    assert factors.max() > 0
