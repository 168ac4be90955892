"""The gauge rule on real data: decoded, a model says exactly what it said before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_clusterer
from sklearn.decomposition import (
    NMF,
    PCA,
    FactorAnalysis,
    FastICA,
    IncrementalPCA,
    MiniBatchNMF,
    SparsePCA,
    TruncatedSVD,
)
from sklearn.mixture import GaussianMixture

from pacsklearn.canonical.gaussian_mixture import GaussianMixtureCanonicalizer
from pacsklearn.kernel.outputs.subset_fitting import same_behaviour
from tests.canonical.cases import CASES, Case, families, names


def dense(values: Any) -> NDArray[Any]:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def close(left: Any, right: Any) -> bool:
    left, right = dense(left), dense(right)
    scale = np.max(np.abs(right[np.isfinite(right)]), initial=1.0)
    return left.shape == right.shape and np.allclose(left, right, rtol=1e-9, atol=1e-9 * scale)


def assert_same(case: Case, released: Any, model: Any) -> None:
    X = case.X
    if isinstance(model, GaussianMixture):
        assert_same_mixture(released, model, X)
        return
    if is_clusterer(model):
        assert_same_clusters(released, model, X)
        return
    if hasattr(model, "predict"):
        told, known = released.predict(X), model.predict(X)
        assert told.shape == known.shape
        if hasattr(model, "classes_"):
            assert told.dtype == known.dtype
            assert np.array_equal(told, known)
            assert np.array_equal(released.classes_, model.classes_)
        else:
            assert close(told, known)
    for method in ("predict_proba", "predict_log_proba"):
        if hasattr(model, method):
            with np.errstate(divide="ignore"):
                assert close(getattr(released, method)(X), getattr(model, method)(X))
    if "transform" in case.canonicalizer.methods:
        assert_same_transform(case, released, model, X)
    assert released.n_features_in_ == X.shape[1]


def assert_same_transform(case: Case, released: Any, model: Any, X: Any) -> None:
    if isinstance(model, (NMF, MiniBatchNMF)):
        # The cone of the components stays; transform stops at a tolerance.
        behaviour = case.canonicalizer.behaviour
        assert close(behaviour(released, X[:20]), behaviour(model, X[:20]))
        return
    told, known = dense(released.transform(X)), dense(model.transform(X))
    if isinstance(model, (FactorAnalysis, FastICA, SparsePCA)):
        # Outputs are reordered and turned around: what stays are distances.
        assert close(told @ told.T, known @ known.T)
        if hasattr(model, "inverse_transform"):
            assert close(released.inverse_transform(told), model.inverse_transform(known))
        return
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if isinstance(last, (PCA, IncrementalPCA, TruncatedSVD)):
        # A basis may be turned: what stays are distances, and the reconstruction.
        assert close(told @ told.T, known @ known.T)
    else:
        assert close(told, known)
    if (
        "inverse_transform" in case.canonicalizer.methods
        and case.name != "scaler: MinMaxScaler_clip"
    ):
        assert close(released.inverse_transform(told), model.inverse_transform(known))


def assert_same_mixture(released: Any, model: Any, X: Any) -> None:
    assert_renamed(released.predict(X), model.predict(X))
    assert close(released.score_samples(X), model.score_samples(X))
    assert close(np.sort(released.predict_proba(X)), np.sort(model.predict_proba(X)))


def assert_renamed(told: NDArray[Any], known: NDArray[Any]) -> None:
    pairs = set(zip(told.tolist(), known.tolist(), strict=True))
    assert len(pairs) == len(set(told.tolist())) == len(set(known.tolist()))


def assert_same_clusters(released: Any, model: Any, X: Any) -> None:
    assert_renamed(released.predict(X), model.predict(X))
    assert close(released.score(X), model.score(X))
    assert close(np.sort(released.transform(X)), np.sort(model.transform(X)))


@pytest.mark.product(by=families, only=12)
@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_decoded_it_says_the_same(case: Case) -> None:
    assert_same(case, case.decode(case.vectors[0]), case.models[0])


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_aligned_and_decoded_every_candidate_says_the_same(case: Case) -> None:
    before = case.vectors.copy()
    for vector, model in zip(case.aligned, case.models, strict=True):
        assert_same(case, case.decode(vector), model)
    assert np.array_equal(case.vectors, before)
    # What the session checks must see no difference either.
    rows = case.X[case.rows[1]]
    assert close(
        case.canonicalizer.behaviour(case.decode(case.aligned[1]), rows),
        case.canonicalizer.behaviour(case.models[1], rows),
    )


@pytest.mark.parametrize("kind", ["diag", "spherical"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_mixtures_of_single_precision_keep_their_gauge(kind: str, seed: int) -> None:
    """Rows between two components, far from zero: rounding alone decides what they are called."""
    X = (np.random.default_rng(seed).normal(size=(4000, 2)) + 300).astype(np.float32)
    model = GaussianMixture(3, covariance_type=kind, random_state=0, tol=0.1, reg_covar=1e-2)
    model.fit(X)
    canonicalizer = GaussianMixtureCanonicalizer()
    encoding = canonicalizer.encode(model, X)
    decoded = canonicalizer.decode(encoding.vector, encoding.layout, clone(model))
    told, known = canonicalizer.behaviour(decoded, X), canonicalizer.behaviour(model, X)
    assert same_behaviour(known, told)
    # A component that is moved is still noticed.
    decoded.means_ = decoded.means_ + np.array([0.5, 0.0])
    assert not same_behaviour(known, canonicalizer.behaviour(decoded, X))
