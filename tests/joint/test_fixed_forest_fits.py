"""Forests of public structure of all candidates: the ordinary fit's numbers, from shared rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier, FixedStructureForestRegressor
from pacsklearn.tabular.forests import joint_fit as fixed_forest
from pacsklearn.tabular.forests.canonicalizer import FixedStructureForestCanonicalizer
from pacsklearn.universe.listed_space import listed_space
from tests.joint.together import together

M, N, P = 6, 400, 7
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(N, P)) * np.arange(1, P + 1) + 20
NUMBERS = X @ GENERATOR.normal(size=P) + GENERATOR.normal(size=N)
LABELS = np.array(["c", "a", "b"])[np.digitize(NUMBERS, np.quantile(NUMBERS, [0.4, 0.8]))]


CLASSIFIER, REGRESSOR = FixedStructureForestClassifier, FixedStructureForestRegressor
LEARNED = [
    CLASSIFIER(),
    CLASSIFIER(5, depth=4, step=0.3, smoothing=0.0),
    CLASSIFIER(2, depth=1),
    CLASSIFIER(leaves="votes"),
    CLASSIFIER(class_weight="balanced"),
    CLASSIFIER(class_weight={"a": 3.0}, prior_count=0.0),
    CLASSIFIER(thresholds="random", random_state=3),
    REGRESSOR(4, depth=3),
    REGRESSOR(2, depth=2, target_range=(-20, 60)),
    REGRESSOR(thresholds="random"),
]
PUBLIC = [
    CLASSIFIER(4, feature_range=(0, 40)),
    CLASSIFIER(feature_range=(0, 40), thresholds="random", class_weight="balanced"),
    REGRESSOR(4, feature_range=(0, 40), target_range=(-20, 60)),
]


@pytest.mark.parametrize("estimator", [*LEARNED, *PUBLIC], ids=repr)
def test_the_same_fit(estimator: Any) -> None:
    y = LABELS if is_classifier(estimator) else NUMBERS
    space = balanced_space(N, n_subsets=M)
    for i, model in enumerate(together(estimator, X, y, space)):
        ordinary = clone(estimator).fit(X[space.rows(i)], y[space.rows(i)])
        assert vars(model).keys() == vars(ordinary).keys()
        assert np.array_equal(model.features_, ordinary.features_)
        assert np.array_equal(model.apply(X), ordinary.apply(X))
        assert np.array_equal(model.leaf_values_, ordinary.leaf_values_)
        for name in ("thresholds_", "centre_", "half_width_"):
            assert np.array_equal(getattr(model, name), getattr(ordinary, name))


def test_numbers_that_are_thresholds_of_a_public_range() -> None:
    whole = np.round(X).astype(int)
    estimator = CLASSIFIER(6, depth=4, feature_range=(0, 40), step=0.05, penalty=0.0)
    space = balanced_space(N, n_subsets=M)
    for i, model in enumerate(together(estimator, whole, LABELS, space)):
        ordinary = clone(estimator).fit(whole[space.rows(i)], LABELS[space.rows(i)])
        assert np.array_equal(model.thresholds_, ordinary.thresholds_)
        assert np.array_equal(model.leaf_values_, ordinary.leaf_values_)


def test_what_rounding_decides_is_decided_as_in_the_ordinary_fit() -> None:
    balanced = np.tile([0.0, 1.0], N // 2)[:, None] * np.ones(2)
    subsets = [np.arange(0, 200), np.arange(100, 203)]
    space = listed_space(subsets, N)
    # With mean and deviation 1/2, the threshold four tenths above the mean is 1.
    estimator = CLASSIFIER(depth=2, class_weight=None)
    constant = np.column_stack([np.full(N, 0.1), X[:, 0]])
    for table in (balanced, constant):
        for rows, model in zip(subsets, together(estimator, table, LABELS, space), strict=True):
            ordinary = clone(estimator).fit(table[rows], LABELS[rows])
            assert np.array_equal(model.thresholds_, ordinary.thresholds_)
            assert np.array_equal(model.leaf_values_, ordinary.leaf_values_)


def test_candidates_that_miss_a_class_and_odd_tables() -> None:
    order = np.argsort(NUMBERS)
    subsets = [order[:100], order[::2]]
    space = listed_space(subsets, N)
    for estimator in (CLASSIFIER(), CLASSIFIER(class_weight="balanced")):
        missing, fitted = together(estimator, X, LABELS, space)
        assert missing is None
        assert list(fitted.classes_) == ["a", "b", "c"]
    assert together(CLASSIFIER(), X.astype(np.float32), LABELS, space) == [None, None]
    gaps = X.copy()
    gaps[0, 0] = np.nan
    assert together(CLASSIFIER(), gaps, LABELS, space) == [None, None]


def test_other_rows_do_not_show_at_all() -> None:
    space = balanced_space(N, n_subsets=M)
    moved = X.copy()
    moved[np.setdiff1d(np.arange(N), space.rows(2))] *= 1e6
    before, after = (together(CLASSIFIER(), rows, LABELS, space)[2] for rows in (X, moved))
    assert np.array_equal(before.thresholds_, after.thresholds_)
    assert np.array_equal(before.leaf_values_, after.leaf_values_)


def test_some_candidates_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    space = balanced_space(N, n_subsets=M)
    at_once = together(CLASSIFIER(), X, LABELS, space)
    monkeypatch.setattr(fixed_forest, "_MOST_PLACES", 1)
    for one, other in zip(at_once, together(CLASSIFIER(), X, LABELS, space), strict=True):
        assert np.array_equal(one.leaf_values_, other.leaf_values_)


@pytest.mark.parametrize("estimator", [CLASSIFIER(4), CLASSIFIER(leaves="votes"), REGRESSOR()])
def test_encoded_together(estimator: Any) -> None:
    y = LABELS if is_classifier(estimator) else NUMBERS
    space = balanced_space(N, n_subsets=M)
    models, canonicalizer = together(estimator, X, y, space), FixedStructureForestCanonicalizer()
    jointly = canonicalizer.encode_jointly(models, X, space)
    assert jointly is not None
    for i, (model, encoding) in enumerate(zip(models, jointly, strict=True)):
        alone = canonicalizer.encode(model, X[space.rows(i)])
        assert not alone.layout.differences(encoding.layout)
        assert encoding.vector == pytest.approx(alone.vector, rel=1e-12)


def test_a_release_of_a_frame() -> None:
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(P)])
    model = PACPrivate(CLASSIFIER(), budget=Nats(1.0), secret=Subsets(M)).fit(frame, LABELS)
    assert model.fit_report_.together == M
    assert list(model.feature_names_in_) == list(frame.columns)
