from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from pacsklearn import Subsets
from pacsklearn.plots.stability import StabilityDisplay

OUTPUTS = np.random.default_rng(0).normal(size=(64, 3))


def test_all_candidates_are_a_hundred_per_cent():
    display = StabilityDisplay.from_outputs(OUTPUTS, n_orders=4)
    assert display.sizes == (8, 16, 32, 64)
    for powers in display.powers.values():
        assert powers.shape == (4, 4)
        np.testing.assert_allclose(powers[:, -1], 1)


def test_the_isotropic_power_is_the_variance_of_the_choice():
    display = StabilityDisplay.from_outputs(
        OUTPUTS, noise="isotropic", sizes=[10], n_orders=1, random_state=7
    )
    order = np.random.default_rng(7).permutation(64)
    some, whole = (OUTPUTS[order[:size]].var(axis=0).sum() for size in (10, 64))
    assert display.powers["isotropic"][0, 0] == pytest.approx(some / whole)


def test_lines_show_medians():
    display = StabilityDisplay.from_outputs(OUTPUTS, n_orders=5)
    expected = 100 * np.median(display.powers["logdet"], axis=0)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), expected)
    assert "candidates" in display.ax_.get_xlabel()
    assert "%" in display.ax_.get_ylabel()


def test_an_estimator_is_fitted_once():
    X, y = load_iris(return_X_y=True)
    display = StabilityDisplay.from_estimator(
        RidgeClassifier(), X, y, secret=Subsets(16), n_orders=2
    )
    assert display.sizes == (8, 16)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="sizes"):
        StabilityDisplay.from_outputs(OUTPUTS, sizes=[1])
    with pytest.raises(ValueError, match="needs"):
        StabilityDisplay.from_outputs(OUTPUTS, budget=100)
