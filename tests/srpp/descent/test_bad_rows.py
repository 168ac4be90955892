"""Rows that gradient descent cannot read: the error says what is wrong and quotes no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacsklearn.srpp import SRPPSGDClassifier, SRPPSGDRegressor

X = np.arange(60.0).reshape(20, 3) + 0.123
Y = np.arange(20) % 2


def with_one(values: Any, value: Any) -> Any:
    changed = np.asarray(values).astype(object)
    changed.flat[4] = value
    return changed


@pytest.mark.parametrize(
    ("model", "X", "y", "words"),
    [
        (SRPPSGDClassifier(), with_one(X, "geheim"), Y, "X must hold numbers"),
        (SRPPSGDClassifier(), pd.DataFrame(with_one(X, "geheim")), Y, "These columns hold no"),
        (SRPPSGDClassifier(), X + 1j, Y, "Complex data not supported"),
        (SRPPSGDClassifier(), X, X[:, 0] + 1j, "Complex data not supported"),
        (SRPPSGDRegressor(), X, with_one(X[:, 0], "geheim"), "y must hold numbers"),
        (SRPPSGDRegressor(), X, np.full(20, "geheim"), "y must hold numbers"),
        (SRPPSGDRegressor(), X, with_one(X[:, 0], None), "y must have a value"),
        (SRPPSGDClassifier(classes=["a", "b"]), X, [*["a", "b"] * 9, "a", None], "y must have a"),
        (SRPPSGDRegressor(), X, with_one(X[:, 0], np.inf), "Input y contains infinity"),
        (SRPPSGDClassifier(), X, None, "requires y to be passed"),
        (SRPPSGDClassifier(), X, Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_unreadable_rows_are_refused_and_not_quoted(model: Any, X: Any, y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        model.set_params(budget=4.0, batches=4).fit(X, y)
    assert "geheim" not in str(caught.value)
    assert "0.123" not in str(caught.value)
    assert caught.value.__context__ is None


def test_weights_that_are_no_numbers_are_not_quoted() -> None:
    model = SRPPSGDClassifier(budget=4.0, batches=4, classes=[0, 1])
    with pytest.raises(ValueError, match="sample_weight must hold numbers") as caught:
        model.fit(X, Y, sample_weight=["geheim"] * 20)
    assert "geheim" not in str(caught.value)
