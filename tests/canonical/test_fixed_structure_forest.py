"""What is released of a forest, and how it is repaired."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier
from pacsklearn.tabular.forests.canonicalizer import FixedStructureForestCanonicalizer

CANONICALIZER = FixedStructureForestCanonicalizer()


def encoded(forest, X, y, m=16):
    space = balanced_space(len(X), n_subsets=m, strata=y)
    models = [clone(forest).fit(X[space.rows(i)], y[space.rows(i)]) for i in range(m)]
    encodings = [CANONICALIZER.encode(model, X[space.rows(i)]) for i, model in enumerate(models)]
    return models, np.stack([e.vector for e in encodings]), encodings[0].layout


def test_names_of_what_is_released() -> None:
    X, y = load_iris(return_X_y=True)
    found = {}
    for name, parameters in {
        "learned": {},
        "random": {"thresholds": "random"},
        "random in range": {"thresholds": "random", "feature_range": (0, 8)},
    }.items():
        forest = FixedStructureForestClassifier(2, 2, **parameters).fit(X, y)
        found[name] = dict(CANONICALIZER.encode(forest, X).layout.blocks)
    assert found["learned"] == {"thresholds": (2, 3), "log_scale": (1,), "leaves": (3, 2, 4)}
    assert found["random"] == {
        "centre": (4,),
        "half_width": (4,),
        "log_scale": (1,),
        "leaves": (3, 2, 4),
    }
    assert found["random in range"] == {"log_scale": (1,), "leaves": (3, 2, 4)}


def test_noisy_thresholds_stay_in_the_public_range() -> None:
    X, y = load_iris(return_X_y=True)
    forest = FixedStructureForestClassifier(2, 2, feature_range=(0, 8)).fit(X, y)
    vector, layout = CANONICALIZER.encode(forest, X)
    vector[layout.slices()["thresholds"]] = [-5, 9, 3, 100, 0, 8]
    released = CANONICALIZER.decode(vector, layout, clone(forest))
    np.testing.assert_array_equal(released.thresholds_.ravel(), [0, 8, 3, 8, 0, 8])


def test_noisy_leaves_give_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    forest = FixedStructureForestClassifier().fit(X, y)
    vector, layout = CANONICALIZER.encode(forest, X)
    for size in (0.1, 1.0, 10.0):
        noise = size * np.random.default_rng(0).normal(size=vector.shape)
        released = CANONICALIZER.decode(vector + noise, layout, clone(forest))
        np.testing.assert_allclose(released.leaf_values_.sum(axis=-1), 1, rtol=1e-6)
        probabilities = released.predict_proba(X)
        assert probabilities.min() >= 0
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
        most = released.classes_[probabilities.argmax(axis=1)]
        np.testing.assert_array_equal(most, released.predict(X))


def test_the_metric_is_the_change_of_the_average() -> None:
    """For leaves it is exact: compared with predictions of changed forests."""
    X, y = load_iris(return_X_y=True)
    forest = FixedStructureForestClassifier(4, 2, thresholds="random", feature_range=(0, 8))
    models, vectors, layout = encoded(forest, X, y, m=4)
    metric = CANONICALIZER.metric(layout, models[0], X, vectors)
    leaves = np.random.default_rng(0).normal(size=(3, 3, 16))
    leaves -= leaves.mean(axis=1, keepdims=True)
    changes = np.column_stack([np.zeros(3), leaves.reshape(3, -1)])
    predicted = np.sum(metric.root(changes) ** 2, axis=1)
    for change, cost in zip(changes, predicted, strict=True):
        scale = np.exp(vectors[0, 0])
        before = CANONICALIZER.decode(vectors[0], layout, clone(forest))
        after = CANONICALIZER.decode(vectors[0] + change, layout, clone(forest))
        difference = (after.average(X) - before.average(X)) / scale
        assert np.mean(np.sum(difference**2, axis=1)) == pytest.approx(cost)


def test_the_metric_of_thresholds_grows_with_what_they_decide() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    models, vectors, layout = encoded(FixedStructureForestClassifier(1, 2), X, y, m=4)
    metric = CANONICALIZER.metric(layout, models[0], X, vectors)
    spread = X.std(axis=0)[models[0].features_[0]]
    costs = [
        float(np.sum(metric.root(np.eye(vectors.shape[1])[[i]] * spread[i]) ** 2)) for i in range(3)
    ]
    assert min(costs) > 0
    assert costs[0] == max(costs)  # the root concerns every row


def test_the_metric_helps() -> None:
    """At 1/4 nat a forest shaped by it predicts better than one that is not; seeds are fixed."""
    X, y = load_breast_cancer(return_X_y=True)
    forest = FixedStructureForestClassifier(5, 2, class_weight="balanced", penalty=0.4)
    models, vectors, layout = encoded(forest, X, y, m=32)
    support, scores = Support(vectors), {}
    for name, metric in {
        "shaped": CANONICALIZER.metric(layout, models[0], X, vectors),
        "plain": CANONICALIZER.__class__.__base__.metric(CANONICALIZER, layout, None, X, vectors),
    }.items():
        law = LogdetBackend().calibrate(support, Target(0.25), metric)
        sampler = SeededSampler(np.random.default_rng(0))
        released = [
            CANONICALIZER.decode(
                law.decode(law.observe(i, sampler.noise(law.dimension))), layout, clone(forest)
            )
            for i in range(32)
        ]
        scores[name] = np.mean([model.score(X, y) for model in released])
    assert scores["shaped"] > scores["plain"] + 0.05


def test_a_threshold_in_a_gap_costs_what_lies_beyond() -> None:
    """No row is near it, so a small change costs nothing: larger ones have to be tried."""
    generator = np.random.default_rng(0)
    X = np.sort(generator.normal(scale=0.05, size=60) + np.repeat([-1.0, 1.0], 30))[:, None]
    y = np.repeat([0, 1], 30)
    forest = FixedStructureForestClassifier(1, 1, step=0.5)
    models, vectors, layout = encoded(forest, X, y, m=4)
    metric = CANONICALIZER.metric(layout, models[0], X, vectors)
    threshold = np.eye(vectors.shape[1])[[0]]
    # A change of two standard deviations sends half of the rows to the other leaf.
    assert np.sum(metric.root(2 * X.std() * threshold) ** 2) > 0.5
