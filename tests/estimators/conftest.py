"""Small real data sets for the meta-estimator's tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from pacsklearn.estimators import session_file


@pytest.fixture(scope="session")
def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def sizes(iris: Any) -> Any:
    """A regression target for the rows of iris."""
    return np.asarray(iris[0] @ [1.0, -2.0, 0.5, 0.0] + 3.0)


@pytest.fixture(autouse=True)
def _few_draws(few_draws: None) -> None:
    """No test here is about how good the best attack on a sliced release is."""


@pytest.fixture
def cheap_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of sessions in no time, where trying a passphrase costs a tenth of a second."""
    assert session_file._COST["n"] >= 2**15
    monkeypatch.setitem(session_file._COST, "n", 2)
