"""Probabilities and classes of scores, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.tabular.additive.score_classifier import ScoreClassifier


class Scored(ScoreClassifier):
    def __init__(self, *classes: str) -> None:
        self.classes_ = np.array(classes)

    def scores(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X, dtype=float)


def test_two_classes_have_one_score() -> None:
    model, odds = Scored("no", "yes"), np.array([[-2.0], [0.0], [800.0]])
    second = np.array([1 / (1 + np.exp(2)), 0.5, 1.0])
    assert model.predict_proba(odds) == pytest.approx(np.column_stack([1 - second, second]))
    assert model.decision_function(odds).shape == (3,)
    assert model.predict(odds).tolist() == ["no", "no", "yes"]
    logs = model.predict_log_proba(odds)
    assert np.exp(logs) == pytest.approx(model.predict_proba(odds))


def test_more_classes_have_one_each() -> None:
    model, scores = Scored("a", "b", "c"), np.array([[0.0, 1.0, -1.0], [900.0, 0.0, 0.0]])
    expected = np.exp(scores[0]) / np.exp(scores[0]).sum()
    assert model.predict_proba(scores)[0] == pytest.approx(expected)
    assert model.predict_proba(scores)[1] == pytest.approx([1, 0, 0])
    assert model.decision_function(scores).shape == (2, 3)
    assert model.predict(scores).tolist() == ["b", "a"]
