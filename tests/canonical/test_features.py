"""Public facts about features, and their second moments."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from pacsklearn.canonical.features import feature_facts, second_moment, set_facts
from pacsklearn.kernel.outputs.canonicalizer import Layout
from pacsklearn.universe.metrics import DiagonalMetric


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_second_moment_is_the_mean_change_of_a_linear_output(
    generator: np.random.Generator, kind: type
) -> None:
    X = generator.normal([0, 1, 2, 3], size=(50, 4))
    X[:, 3] = 0.0
    change = generator.normal(size=(1, 5))
    root = second_moment(kind(X)).root(change)
    expected = np.mean((X @ change[0, :-1] + change[0, -1]) ** 2)
    assert np.sum(root**2) == pytest.approx(expected, rel=1e-10)


def test_features_of_very_different_size_all_count(generator: np.random.Generator) -> None:
    units = np.array([1e-12, 1.0, 1e12])
    X = generator.normal(size=(50, 3)) * units
    root = second_moment(X).root(np.diag(np.append(1 / units, 1.0)))
    assert root.shape == (4, 4)
    assert np.sum(root**2, axis=1) == pytest.approx(np.ones(4), rel=0.5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_many_features_count_one_by_one(generator: np.random.Generator, kind: type) -> None:
    X = generator.normal(size=(20, 1500))
    metric = second_moment(kind(X))
    assert isinstance(metric, DiagonalMetric)
    assert metric.weights == pytest.approx(np.append((X**2).mean(axis=0), 1.0))


def test_facts_go_there_and_back() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "weight": [3.0, 1.0, 2.0]})
    facts = feature_facts(Ridge().fit(frame, [1, 2, 3]))
    blank = Ridge()
    set_facts(blank, Layout.of({}, other_=1, classes_=np.array(["no", "yes"]), **facts))
    assert blank.classes_.tolist() == ["no", "yes"]
    assert blank.n_features_in_ == 2
    assert blank.feature_names_in_.tolist() == ["age", "weight"]
    assert not hasattr(blank, "other_")
    assert "feature_names_in_" not in feature_facts(Ridge().fit(frame.to_numpy(), [1, 2, 3]))
