"""Bases are turned to agree, and only that."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from pacsklearn.canonical.pca import PCACanonicalizer
from pacsklearn.kernel.outputs.canonicalizer import Layout

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def digits() -> Floats:
    return load_digits().data[:400]


def encoded(models: list[PCA], X: Floats) -> tuple[PCACanonicalizer, Floats, Layout]:
    canonicalizer = PCACanonicalizer(whiten=models[0].whiten)
    parts = [canonicalizer.encode(model, X) for model in models]
    return canonicalizer, np.stack([part.vector for part in parts]), parts[0].layout


@pytest.mark.parametrize("whiten", [False, True])
def test_turned_bases_of_one_space_become_one(
    digits: Floats, generator: np.random.Generator, whiten: bool
) -> None:
    model = PCA(3, whiten=whiten, random_state=0).fit(digits)
    canonicalizer, vectors, layout = encoded([model] * 5, digits)
    turned = vectors.copy()
    where = layout.slices()
    for vector in turned[1:]:
        turn = np.linalg.qr(generator.normal(size=(3, 3)))[0]
        vector[where["components"]] = (turn @ model.components_).ravel()
        if whiten:
            spectrum = turn @ np.diag(model.explained_variance_) @ turn.T
            vector[where["spectrum"]] = spectrum[np.triu_indices(3)]
    aligned = canonicalizer.align(turned, layout)
    size = np.abs(aligned).max()
    assert np.ptp(aligned, axis=0) == pytest.approx(np.zeros(layout.size), abs=1e-9 * size)


def test_alignment_lowers_the_spread_of_real_subsets(
    digits: Floats, generator: np.random.Generator
) -> None:
    halves = [generator.permutation(400)[:200] for _ in range(8)]
    models = [PCA(6, random_state=0).fit(digits[rows]) for rows in halves]
    canonicalizer, vectors, layout = encoded(models, digits)
    where = layout.slices()["components"]
    aligned = canonicalizer.align(vectors, layout)
    assert aligned[:, where].var(axis=0).sum() < 0.3 * vectors[:, where].var(axis=0).sum()
    assert np.array_equal(aligned[:, layout.slices()["mean"]], vectors[:, layout.slices()["mean"]])


def test_the_metric_is_the_squared_error_of_the_reconstruction(
    digits: Floats, generator: np.random.Generator
) -> None:
    model = PCA(4, random_state=0).fit(digits)
    canonicalizer, vectors, layout = encoded([model, model], digits)
    metric = canonicalizer.metric(layout, model, digits, vectors)
    small = 1e-4 * generator.normal(size=layout.size)
    moved = canonicalizer.decode(vectors[0] + small, layout, PCA(4))
    told, known = (each.inverse_transform(each.transform(digits)) for each in (moved, model))
    change = ((told - known) ** 2).sum(axis=1).mean()
    # First order, up to the noise inside the span and what a turned space loses elsewhere.
    cost = float(np.sum(metric.root(small[None, :]) ** 2))
    assert change < 3 * cost
    assert change > cost / 3


def test_without_whitening_no_variances_are_released(digits: Floats) -> None:
    model = PCA(3, random_state=0).fit(digits)
    canonicalizer, vectors, layout = encoded([model], digits)
    released = canonicalizer.decode(vectors[0], layout, PCA(3))
    learnt = {name for name in vars(released) if name.endswith("_")}
    assert learnt - {"explained_variance_"} == {
        "components_",
        "mean_",
        "n_components_",
        "n_features_in_",
    }
    assert np.all(np.isnan(released.explained_variance_))
    assert list(released.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
