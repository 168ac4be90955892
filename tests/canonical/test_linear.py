"""What is removed from linear classifiers, and what that is worth; shapes of regressors.

What they predict is checked with the gauge rule.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from pacsklearn.canonical.affine import AffineMap
from pacsklearn.canonical.linear import LinearClassifierCanonicalizer, LinearRegressorCanonicalizer
from pacsklearn.datasets import load_rice
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from pacsklearn.shaping.closed_forms import DiagonalBackend
from pacsklearn.universe.design import candidates_over

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def iris() -> tuple[Floats, NDArray[np.int64]]:
    return load_iris(return_X_y=True)


def shifted(model: Any, scale: float = 1.0, shift: float = 0.0) -> Any:
    model.coef_ = model.coef_ * scale + shift
    model.intercept_ = model.intercept_ * scale + shift
    return model


def test_scale_and_common_shift_of_decisions_are_removed(iris: Any) -> None:
    X, y = iris
    canonicalizer = LinearClassifierCanonicalizer()
    plain = canonicalizer.encode(LinearSVC().fit(X, y), X).vector
    moved = canonicalizer.encode(shifted(LinearSVC().fit(X, y), 7.0, 0.3), X).vector
    assert moved == pytest.approx(plain, rel=1e-9, abs=1e-12)
    decision = np.column_stack([X, np.ones(len(X))]) @ plain.reshape(3, -1).T
    assert np.sqrt(np.mean(decision**2)) == pytest.approx(1.0)
    assert decision.sum(axis=1) == pytest.approx(np.zeros(len(X)), abs=1e-12)


def test_the_shift_of_a_softmax_is_removed_and_its_scale_kept(iris: Any) -> None:
    X, y = iris
    canonicalizer = LinearClassifierCanonicalizer()
    plain, moved, scaled = (
        canonicalizer.encode(shifted(LogisticRegression(max_iter=500).fit(X, y), *by), X).vector
        for by in ((1.0, 0.0), (1.0, 0.3), (2.0, 0.0))
    )
    assert moved == pytest.approx(plain, rel=1e-9, abs=1e-12)
    assert scaled[:-1] == pytest.approx(plain[:-1], rel=1e-12)
    assert scaled[-1] == pytest.approx(plain[-1] + np.log(2))


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_the_shift_of_one_against_rest_probabilities_is_kept(
    iris: Any, loss: str, size: float
) -> None:
    # However certain the first rows are: on them a shift would not show.
    X, y = iris
    canonicalizer = LinearClassifierCanonicalizer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SGDClassifier(loss=loss, random_state=0).fit(X * size, y)
    vector, layout = canonicalizer.encode(model, X * size)
    weights = vector[:-1].reshape(3, -1) * np.exp(vector[-1])
    assert weights[:, :-1] == pytest.approx(model.coef_, rel=1e-9)
    released = canonicalizer.decode(vector, layout, SGDClassifier(loss=loss))
    # Old versions divide by zero where every class is ruled out.
    with np.errstate(invalid="ignore"):
        told, known = (each.predict_proba(X * size) for each in (released, model))
    assert told == pytest.approx(known, nan_ok=True)


def test_parameters(iris: Any) -> None:
    X, y = iris
    model = LogisticRegression(max_iter=500).fit(X, y)
    as_it_is = LinearClassifierCanonicalizer(gauge=False).encode(model, X).vector
    assert as_it_is == pytest.approx(np.column_stack([model.coef_, model.intercept_]).ravel())
    decisions = LinearClassifierCanonicalizer(probabilities=False)
    vector, layout = decisions.encode(model, X)
    assert "log_scale" not in dict(layout.blocks)
    released = decisions.decode(vector, layout, LogisticRegression())
    assert np.array_equal(released.predict(X), model.predict(X))


def test_string_labels(iris: Any) -> None:
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LinearSVC().fit(X, labels)
    canonicalizer = LinearClassifierCanonicalizer()
    released = canonicalizer.decode(*canonicalizer.encode(model, X), LinearSVC())
    assert np.array_equal(released.predict(X), model.predict(X))


def test_a_model_that_has_learnt_nothing_has_no_scale(iris: Any) -> None:
    X, y = iris
    model = shifted(LinearSVC().fit(X, y), 0.0)
    canonicalizer = LinearClassifierCanonicalizer()
    vector, layout = canonicalizer.encode(model, X)
    assert not vector.any()
    assert set(canonicalizer.decode(vector, layout, LinearSVC()).predict(X)) == {0}


@pytest.fixture(scope="module")
def rice(shared_data: Path) -> tuple[Floats, Floats, NDArray[Any], NDArray[Any]]:
    bunch = load_rice(data_home=shared_data)
    parts = train_test_split(bunch.data, bunch.target, test_size=0.3, shuffle=True, random_state=0)
    return tuple(np.asarray(part) for part in parts)  # type: ignore[return-value]


@pytest.mark.parametrize(("scaler", "gain"), [(MinMaxScaler, 5.0), (StandardScaler, 50.0)])
def test_rice_gauge_and_metric_save_most_of_the_noise(rice: Any, scaler: Any, gain: float) -> None:
    X, _, y, _ = rice
    estimator = make_pipeline(scaler(), LinearSVC(C=1, random_state=0))
    canonicalizer = registry().canonicalizer("auto", estimator)
    space = balanced_space(len(X), n_subsets=16, strata=y)
    outputs = candidates_over(estimator, X, y, space).outputs(canonicalizer)
    metric = canonicalizer.metric(outputs.layout, outputs.reference, X, outputs.vectors)
    shaped = LogdetBackend().calibrate(Support(outputs.vectors), Target(1 / 64), metric)
    # The published method: coefficients as they are, diagonal noise, no metric.
    plain = np.stack(
        [
            weights_of(estimator, X[rows], y[rows])
            for rows in map(space.rows, range(space.n_subsets))
        ]
    )
    law = DiagonalBackend().calibrate(Support(plain), Target(1 / 64), IdentityMetric())
    design = np.column_stack([X, np.ones(len(X))])
    ours = noise_to_signal(shaped, outputs.vectors, design)
    theirs = noise_to_signal(law, plain, design)
    assert theirs > gain * ours


def weights_of(estimator: Any, X: Floats, y: Any) -> Floats:
    """Weights of the same model on the raw features, neither scaled nor centred."""
    scaler, model = estimator.fit(X, y)[0], estimator[-1]
    slope = scaler.transform(np.eye(X.shape[1])) - scaler.transform(np.zeros((1, X.shape[1])))
    coef = model.coef_ @ slope.T
    intercept = model.intercept_ + model.coef_ @ scaler.transform(np.zeros((1, X.shape[1])))[0]
    return np.append(coef, intercept)


def noise_to_signal(law: Any, vectors: Floats, design: Floats) -> float:
    """Mean square of the noise in decisions over that of the decisions themselves."""
    noise = design @ (law.axes * (law.step * law.scale)[:, None]).T
    return float(np.mean(np.sum(noise**2, axis=1)) / np.mean((design @ vectors.T) ** 2))


X, Y = load_diabetes(return_X_y=True)
CANONICALIZER = LinearRegressorCanonicalizer()
CASES = [
    (LinearRegression(), Y),
    (LinearRegression(), Y[:, None]),
    (LinearRegression(), np.column_stack([Y, -Y])),
    (Ridge(fit_intercept=False), np.column_stack([Y, -Y])),
    (LinearSVR(random_state=0, C=0.01), Y),
    (SGDRegressor(random_state=0, max_iter=50, tol=None), Y),
]


@pytest.mark.parametrize(("estimator", "targets"), CASES)
def test_attributes_keep_their_shape(estimator: Any, targets: Any) -> None:
    model = clone(estimator).fit(X, targets)
    released = CANONICALIZER.decode(*CANONICALIZER.encode(model, X), clone(estimator))
    assert np.shape(released.coef_) == np.shape(model.coef_)
    assert np.size(released.intercept_) in (np.size(model.intercept_), targets.ndim)
    assert released.predict(X).shape == model.predict(X).shape


@pytest.mark.parametrize(("estimator", "targets"), [*CASES, (PoissonRegressor(), Y)])
def test_folded_it_predicts_from_the_input_of_the_step_before(estimator: Any, targets: Any) -> None:
    factor, offset = np.linspace(1, 2, 10), np.linspace(-1, 1, 10)
    model = clone(estimator).fit(X * factor + offset, targets)
    before = np.copy(model.coef_)
    folded = CANONICALIZER.fold(model, AffineMap(factor, offset))
    assert folded.predict(X) == pytest.approx(model.predict(X * factor + offset))
    assert np.array_equal(model.coef_, before)


def test_the_metric_counts_every_target() -> None:
    targets = np.column_stack([Y, -Y, Y])
    model = Ridge().fit(X, targets)
    vector, layout = CANONICALIZER.encode(model, X)
    metric = CANONICALIZER.metric(layout, model, X, vector[None, :])
    change = np.random.default_rng(0).normal(size=(3, 11))
    expected = np.mean(np.sum((X @ change[:, :-1].T + change[:, -1]) ** 2, axis=1))
    assert np.sum(metric.root(change.reshape(1, -1)) ** 2) == pytest.approx(expected)
