"""Impossible vectors decode to valid models: the repair is a function of the vector alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.canonical.cases import (
    CASES,
    DECOMPOSITIONS,
    SCALERS,
    STATELESS,
    Case,
    names,
)

Floats = NDArray[np.float64]
LEARNING = [case for case in CASES if case not in STATELESS and "nothing" not in case.name]
# A log link turns a large number into an infinite mean, as it would with any such coefficients; so
# does the square of what an absurd scaler hands on.
FINITE = [
    case
    for case in LEARNING
    if not any(
        word in case.name for word in ("Gamma", "Poisson", "poisson", "tweedie_log", "scaled_bayes")
    )
]


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
