"""Seeds of users."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

from pacsklearn import PACPrivate


@pytest.mark.parametrize("given", ["a", -1, 1.5, np.random.default_rng(0)])
def test_what_is_no_seed_is_refused_by_name(given):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="random_state must be"):
        PACPrivate(LinearSVC(), random_state=given).fit(X, y)
