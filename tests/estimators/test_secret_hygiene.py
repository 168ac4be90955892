"""What leaves a fit: no row, no candidate's output, no membership, no secret."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from pacsklearn import Answers, Nats, PACPrivate, Subsets
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.outputs.subset_fitting import seeded_clone
from pacsklearn.kernel.release.account import Secret
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space
from pacsklearn.universe.design import candidates_over
from tests.estimators.reachable import reachable

M = 8
MODELS = [
    LinearSVC(),
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    Ridge(),
    KMeans(3, n_init=1),
    PCA(2),
    StandardScaler(),
    make_pipeline(StandardScaler(), LinearSVC()),
    make_pipeline(StandardScaler(), KMeans(3, n_init=1)),
]


def name(model: Any) -> str:
    return type(model).__name__


def traces(array: Any) -> Iterator[tuple[bytes, str]]:
    """Bytes by which a row, or its longest numbers in decimals, would be recognised."""
    for row in np.atleast_2d(np.asarray(array)):
        for kind in (np.float64, np.float32):
            yield row.astype(kind).tobytes(), f"{kind.__name__} bytes of a row"
        for value in row:
            text = repr(float(value))
            if len(text) >= 10:  # short decimals occur anywhere by chance
                yield text.encode(), "decimals of a value"
                yield repr(float(np.float32(value)))[:9].encode(), "decimals of a short float"


def found(haystack: bytes, array: Any, what: str) -> list[str]:
    return [f"{what}: {trace}" for needle, trace in traces(array) if needle in haystack]


def memberships(space: SecretSpace) -> Iterator[bytes]:
    members = space.membership()
    yield space.packed.tobytes()
    for i in range(space.n_subsets):
        rows = space.rows(i)
        yield from (rows.tobytes(), rows.astype(np.int32).tobytes())
        column = members[:, i]
        yield from (column.tobytes(), np.packbits(column).tobytes())


@pytest.fixture(scope="module")
def universe() -> tuple[Any, Any]:
    """Rows whose digits and bytes are unmistakable."""
    generator = np.random.default_rng(20)
    X = generator.normal(size=(80, 4))
    return X, (X[:, 0] + 0.3 * generator.normal(size=80) > 0).astype(np.int64)


def refitted(model: Any, X: Any, y: Any) -> tuple[SecretSpace, CandidateOutputs]:
    """What the curator alone may know, made again from public seeds."""
    strata = y if hasattr(model, "predict") and not isinstance(model, Ridge | KMeans) else None
    if isinstance(getattr(model, "steps", [(None, None)])[-1][1], KMeans):
        strata = None
    space = balanced_space(X.shape[0], n_subsets=M, strata=strata)
    return space, candidates_over(model, X, y, space).outputs(registry().canonicalizer_for(model))


def own_numbers(model: Any, X: Any, y: Any, space: SecretSpace) -> Iterator[Any]:
    """Fitted numbers of every candidate's model, as scikit-learn left them."""
    for i in range(space.n_subsets):
        rows = space.rows(i)
        for item in reachable(vars(seeded_clone(model).fit(X[rows], y[rows]))):
            if isinstance(item, np.ndarray) and item.dtype.kind == "f" and item.size > 2:
                yield np.atleast_2d(item)


@pytest.mark.product(only=5)
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_nothing_secret_is_in_what_leaves(model: Any, universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(model, budget=1 / 4, secret=Subsets(M, blocks=None)).fit(X, y)
    space, outputs = refitted(model, X, y)
    assert estimator.guarantee_.spent <= 1 / 4
    leaving = {
        "PACPrivate": pickle.dumps(estimator),
        "released_estimator_": pickle.dumps(estimator.released_estimator_),
        "guarantee_": pickle.dumps(estimator.guarantee_),
        "HTML": estimator._repr_html_().encode(),
        "HTML of the model": estimator.released_estimator_._repr_html_().encode(),
        "text": (repr(estimator) + str(estimator.guarantee_)).encode(),
        "JSON": estimator.guarantee_.to_json().encode(),
    }
    for place, haystack in leaving.items():
        assert not found(haystack, X, f"{place} holds X"), place
        assert not found(haystack, outputs.vectors, f"{place} holds a candidate"), place
        assert not any(trace in haystack for trace in memberships(space)), place
        for numbers in own_numbers(model, X, y, space):
            assert not found(haystack, numbers, f"{place} holds a candidate's numbers"), place


@pytest.mark.product(only=5)
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_nothing_secret_is_reachable_from_the_estimator(model: Any, universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(model, budget=1 / 4, secret=Subsets(M, blocks=None)).fit(X, y)
    space, outputs = refitted(model, X, y)
    secrets = [X, *outputs.vectors, space.packed, *(space.rows(i) for i in range(M))]
    for item in reachable(vars(estimator)):
        assert not isinstance(
            item, PrivacySession | Secret | CandidateOutputs | NoiseLaw | Support | SecretSpace
        )
        if isinstance(item, np.ndarray):
            assert item.size < X.size
            assert not any(np.array_equal(item.ravel(), np.ravel(known)) for known in secrets)


def test_the_scan_would_see_a_leak(universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(LinearSVC(), budget=1 / 4, secret=Subsets(M, blocks=None)).fit(X, y)
    space, outputs = refitted(LinearSVC(), X, y)
    for leak, known in [
        (X[3:5], X),
        (X[3:5].astype(np.float32), X),
        (outputs.vectors[2], outputs.vectors),
        (f"row 7 is {X[7, 2]}", X),
    ]:
        estimator.leak_ = leak
        assert found(pickle.dumps(estimator), known, "planted")
    estimator.leak_ = space.rows(3)
    assert any(trace in pickle.dumps(estimator) for trace in memberships(space))
    estimator.leak_ = space
    assert any(isinstance(item, SecretSpace) for item in reachable(vars(estimator)))


def test_what_knows_the_secret_is_gone_after_a_fit(
    universe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def watch(kind: type, method: str) -> None:
        original = getattr(kind, method)

        def watching(self: Any, *args: Any, **kwargs: Any) -> Any:
            made.append(weakref.ref(self))
            return original(self, *args, **kwargs)

        monkeypatch.setattr(kind, method, watching)

    watch(PrivacySession, "__init__")
    watch(Secret, "__init__")
    watch(Support, "__post_init__")
    watch(NoiseLaw, "observe")
    estimator = PACPrivate(LinearSVC(), secret=Subsets(M, blocks=None)).fit(*universe)
    gc.collect()
    assert len(made) >= 4
    assert [held() for held in made if held() is not None] == []
    assert hasattr(estimator, "guarantee_")


@pytest.mark.product(only=5)
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_what_is_published_works_elsewhere(model: Any, universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(model, secret=Subsets(M, blocks=None)).fit(X, y)
    for original in (estimator, estimator.released_estimator_):
        read = pickle.loads(pickle.dumps(original))
        method = "predict" if hasattr(original, "predict") else "transform"
        np.testing.assert_array_equal(getattr(read, method)(X), getattr(original, method)(X))
    assert pickle.loads(pickle.dumps(estimator)).guarantee_ == estimator.guarantee_
    assert type(estimator.released_estimator_).__module__.startswith("sklearn.")


def test_a_frame_is_not_kept(universe: Any) -> None:
    X, y = universe
    frame = pd.DataFrame(X, columns=list("abcd"))
    estimator = PACPrivate(LinearSVC(), secret=Subsets(M, blocks=None)).fit(frame, y)
    assert not found(pickle.dumps(estimator), X, "frame")
    assert not any(isinstance(item, pd.DataFrame) for item in reachable(vars(estimator)))


def test_a_black_box_that_stores_rows_is_not_carried_along(universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(
        SVC(), release=Answers(), secret=Subsets(M, blocks=None), budget=1 / 4
    ).fit(X, y)
    space = balanced_space(X.shape[0], n_subsets=M, strata=y)
    estimator.predict(X[:10] + 1.0)
    for haystack in (
        pickle.dumps(estimator),
        (estimator._repr_html_() + repr(estimator) + str(estimator.guarantee_)).encode(),
    ):
        assert not found(haystack, X, "responses")
        assert not any(trace in haystack for trace in memberships(space))


def test_a_release_holds_nothing_but_what_may_leave(universe: Any) -> None:
    X, y = universe
    space = balanced_space(X.shape[0], n_subsets=M, strata=y)
    release = PrivacySession(X, y, secret=space, budget=1 / 4).release(LinearSVC(), individual=True)
    haystack = pickle.dumps(release)
    vectors = refitted(LinearSVC(), X, y)[1].vectors
    assert not found(haystack, X, "rows") + found(haystack, vectors, "candidates")
    assert not any(trace in haystack for trace in memberships(space))
    assert {field.name for field in dataclasses.fields(release)} == {
        "value",
        "guarantee",
        "individual",
        "event",
        "noise_power",
        "noise_variances",
        "released_power",
    }


def test_a_noiseless_release_is_one_candidates_model_and_says_so(universe: Any) -> None:
    X, y = universe
    estimator = PACPrivate(
        LinearSVC(), budget=Nats(50.0, allow_exact=True), secret=Subsets(M, blocks=None)
    ).fit(X, y)
    vectors = refitted(LinearSVC(), X, y)[1].vectors
    model = estimator.released_estimator_
    released = np.append(model.coef_, model.intercept_)
    # Exact up to the grid of 2^-40 spreads: here nothing is hidden, and the guarantee says it.
    assert np.isclose(vectors, released, rtol=1e-6, atol=1e-9).all(axis=1).sum() == 1
    assert estimator.guarantee_.noiseless
    assert estimator.guarantee_.status.kind == "hides nothing"
    assert estimator.guarantee_.posterior_identification == 1.0


@pytest.mark.parametrize("start", [[0, 1, 2], [7, 40, 7]])
def test_parameters_made_of_rows_are_refused(start):
    """A model's bundle holds its parameters as they are."""
    rows = np.random.default_rng(0).normal(size=(60, 3))
    means = KMeans(3, init=rows[start].tolist(), n_init=1)
    for model in (means, make_pipeline(means)):
        with pytest.raises(ValueError, match="init holds rows"):
            PACPrivate(model, secret=Subsets(M)).fit(rows)
    means.set_params(init=rows[start] + 1e-6)
    PACPrivate(means, secret=Subsets(M)).fit(rows)
