"""The result of a curve: numbers, table, frame, JSON."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from pacsklearn import PACPrivate, Subsets
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve, budget_label

SMALL = {"secret": Subsets(16), "n_releases": 8}


@pytest.fixture(scope="module")
def curve() -> PrivacyUtilityCurve:
    return privacy_utility_curve(
        RidgeClassifier(),
        *load_iris(return_X_y=True),
        budgets=[1, 1 / 64, 100],
        noise=["logdet", "diagonal"],
        **SMALL,
    )


def test_statistics_are_those_of_the_scores(curve: PrivacyUtilityCurve) -> None:
    point = curve.points[0]
    scores = np.array(point.scores)
    assert scores.shape == (8,)
    assert point.mean == pytest.approx(scores.mean())
    assert point.median == pytest.approx(np.median(scores))
    assert point.quantile(0.25) == pytest.approx(np.quantile(scores, 0.25))
    assert point.standard_error == pytest.approx(scores.std(ddof=1) / math.sqrt(8))


def test_table_is_aligned_and_warns(curve: PrivacyUtilityCurve) -> None:
    text = str(curve)
    assert str(curve) == text
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line) == {"-"})
    assert {len(line) for line in lines[rule - 1 : rule + 7]} == {len(lines[rule])}
    assert "1/64" in text
    assert "58.82 %" in text
    words = " ".join(text.split())
    assert "Choosing a budget by looking at private data is itself a release" in words
    assert "RidgeClassifier, accuracy on 45 held-out rows" in words


def test_repr_shows_no_single_score(curve: PrivacyUtilityCurve) -> None:
    assert "scores" not in repr(curve)


def test_json_round_trip(curve: PrivacyUtilityCurve) -> None:
    text = curve.to_json(indent=1)
    assert PrivacyUtilityCurve.from_json(text) == curve
    assert json.loads(text)["points"][0]["budget"] == 1 / 64


def test_results_are_frozen(curve: PrivacyUtilityCurve) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.noiseless_score = 1.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="noise"):
        curve.of("eigen")


@pytest.mark.parametrize(
    ("budget", "label"),
    [(1 / 64, "1/64"), (0.1, "1/10"), (0.3, "0.3"), (1, "1"), (4, "4"), (1e-9, "1e-09")],
)
def test_budget_labels(budget: float, label: str) -> None:
    assert budget_label(budget) == label


def test_a_private_estimator_is_refused_as_by_a_fit() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="private itself"):
        privacy_utility_curve(PACPrivate(RidgeClassifier()), X, y)
