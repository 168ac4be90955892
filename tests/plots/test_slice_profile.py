from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from pacsklearn import SRPPPrivate
from pacsklearn.plots.slice_profile import SliceProfileDisplay
from pacsklearn.srpp import GroupScenario, PrevalenceScenario, SliceProfile, Slices

PROFILE = SliceProfile.uniform(2, n_slices=16)


def drawn(profile, shift, sigma, ax=None):
    """A shift of two secrets' outputs under isotropic noise costs its projection."""
    divergences = 4 * (profile.directions @ shift) ** 2 / (2 * sigma**2)
    return SliceProfileDisplay(profile=profile, divergences=divergences, order=4).plot(ax)


def test_average_and_joint():
    display = drawn(PROFILE, [1.0, 0.5], sigma=2.0)
    assert display.average == pytest.approx(display.divergences.mean())
    assert display.joint == pytest.approx(np.log(np.mean(np.exp(3 * display.divergences))) / 3)
    assert display.average <= display.joint <= display.divergences.max()


def test_of_two_numbers_the_angle_is_the_direction():
    display = drawn(PROFILE, [1, 0], sigma=2.0)
    line = display.ax_.get_lines()[0]
    angles, radii = line.get_data()
    assert len(angles) == 33
    np.testing.assert_allclose(radii, 4 * np.cos(angles) ** 2 / 8, atol=1e-12)


def test_of_more_numbers_slices_are_sorted_to_both_sides():
    display = drawn(SliceProfile.uniform(5, n_slices=40), np.ones(5), sigma=3.0)
    radii = display.ax_.get_lines()[0].get_ydata()
    assert radii[0] == radii.max() == radii[-1]
    assert np.argmin(radii) in {19, 20, 21}
    assert sorted(radii[:-1]) == pytest.approx(sorted(display.divergences))


@pytest.mark.soak
def test_an_estimator_of_groups_costs_what_it_says():
    generator = np.random.default_rng(3)
    X, group = generator.normal(size=(30, 3)), np.repeat([0, 1, 2], 10)
    X[group == 1] += 0.5
    model = SRPPPrivate(
        lambda X: X.mean(axis=0), scenario=GroupScenario(), slices=Slices(30, aggregation="average")
    )
    model.fit(X, secret=group, realized=0)
    display = SliceProfileDisplay.from_estimator(model, X, secret=group)
    costs = model.guarantee_.costs
    assert display.average == pytest.approx(costs.average, rel=1e-4)
    assert display.divergences.max() <= costs.worst_slice * (1 + 1e-4)
    assert display.full == costs.full


def test_an_estimator_is_replayed():
    X, y = load_iris(return_X_y=True)
    model = SRPPPrivate(Ridge(), scenario=PrevalenceScenario(n_draws=4), slices=20)
    model.fit(X[:, :3], X[:, 3], secret=y == 1)
    display = SliceProfileDisplay.from_estimator(model, X[:, :3], X[:, 3], secret=y == 1)
    assert display.average == pytest.approx(model.guarantee_.costs.average, rel=1e-4)
    assert display.full == model.guarantee_.costs.full


def test_axes_must_be_polar():
    with pytest.raises(ValueError, match="polar"):
        drawn(PROFILE, [1, 0], sigma=1.0, ax=plt.subplots()[1])
