"""Cluster centres in a common order."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.datasets import load_iris

from pacsklearn import PACPrivate, Subsets
from pacsklearn.canonical.kmeans import KMeansCanonicalizer
from pacsklearn.exceptions import StructureMismatchError


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
def test_renamed_clusters_are_one_candidate(kind: type, generator: np.random.Generator) -> None:
    X = load_iris().data
    canonicalizer = KMeansCanonicalizer()
    model = kind(4, n_init=1, random_state=0).fit(X)
    vectors = []
    for _ in range(6):
        model.cluster_centers_ = generator.permutation(model.cluster_centers_)
        vector, layout = canonicalizer.encode(model, X)
        vectors.append(vector)
    aligned = canonicalizer.align(np.stack(vectors), layout)
    assert not np.ptp(aligned, axis=0).any()
    assert np.array_equal(aligned[0], vectors[0])


def test_what_a_released_clustering_can_do() -> None:
    X = load_iris().data
    canonicalizer = KMeansCanonicalizer()
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    released = canonicalizer.decode(*canonicalizer.encode(model, X), KMeans(3))
    assert released.score(X) == pytest.approx(model.score(X))
    assert list(released.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]
    learnt = {name for name in vars(released) if name.endswith("_")}
    assert learnt == {"cluster_centers_", "n_features_in_"}


def test_behaviour_does_not_know_names() -> None:
    X = load_iris().data
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    canonicalizer = KMeansCanonicalizer()
    before = canonicalizer.behaviour(model, X)
    model.cluster_centers_ = model.cluster_centers_[::-1].copy()
    assert np.array_equal(canonicalizer.behaviour(model, X), before)


def test_rows_between_two_centres_are_no_fault_of_a_clustering(
    generator: np.random.Generator,
) -> None:
    # Of words, one column each: many rows are as near to one centre as to another.
    X = (generator.random((80, 4)) > 0.5).astype(float)
    private = PACPrivate(KMeans(8), secret=Subsets(16)).fit(X)
    assert private.released_estimator_.cluster_centers_.shape == (8, 4)


def test_trees_that_differ_are_refused_by_what_differs() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    with pytest.raises(StructureMismatchError, match="bisection_tree differs"):
        PACPrivate(BisectingKMeans(8), secret=Subsets(16, seed=0)).fit(X)
