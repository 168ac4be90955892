"""Encodings and sums of one table are made once for all options, and for no other table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pacsklearn.joint.moments import MomentSums
from pacsklearn.joint.shared_work import made_once, shared_work
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import StepwiseClassifier

X, Y = (part[:200] for part in load_breast_cancer(return_X_y=True))
X = X[:, :5]
SPACE = balanced_space(len(Y), n_subsets=8, strata=Y)
HEADS = [
    StepwiseClassifier(2),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.9),
    StepwiseClassifier(0, ridge=1.0),
]


def fitted(model: Any, rows: Any = X, y: Any = Y) -> Any:
    fitter = registry().subset_fitter_for(model)
    assert fitter is not None
    return fitter.fit_all(model, rows, y, SPACE)


@pytest.mark.parametrize("encoder", [(), (PolynomialFeatures(2),)], ids=["plain", "encoded"])
def test_heads_share_one_pass_and_are_what_they_are_alone(
    encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = []
    alone = MomentSums.of_classes

    def counted(*how: Any, **which: Any) -> MomentSums:
        passes.append(1)
        return alone(*how, **which)

    monkeypatch.setattr(MomentSums, "of_classes", counted)
    models = [make_pipeline(*encoder, StandardScaler(), head) for head in HEADS]
    apart = [fitted(model) for model in models]
    assert len(passes) == len(HEADS)
    with shared_work():
        together = [fitted(model) for model in models]
    assert len(passes) == len(HEADS) + 1
    for some, others in zip(apart, together, strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_array_equal(one[-1].coef_, other[-1].coef_)
            assert one[0] is not other[0]


def test_other_rows_and_other_targets_are_another_table() -> None:
    model = make_pipeline(StandardScaler(), HEADS[0])
    with shared_work():
        first = fitted(model)
        again = fitted(model, X + 1.0, 1 - Y)
        np.testing.assert_allclose(again[0][-1].coef_, -first[0][-1].coef_, rtol=1e-6)
        assert not np.allclose(again[0][0].mean_, first[0][0].mean_)


def test_nothing_is_kept_outside() -> None:
    made = []

    def make() -> int:
        made.append(1)
        return len(made)

    with shared_work():
        assert made_once("kind", (X,), 1, make) == made_once("kind", (X,), 1, make) == 1
        assert made_once("kind", (X,), 2, make) == 2
        assert made_once("kind", (X.copy(),), 2, make) == 3
    assert made_once("kind", (X,), 1, make) == 4
    with shared_work():
        assert made_once("kind", (X,), 1, make) == 5
