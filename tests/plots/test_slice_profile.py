from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from pacsklearn import SRPPPrivate
from pacsklearn.plots.slice_profile import SliceProfileDisplay
from pacsklearn.srpp import GroupScenario, PrevalenceScenario, SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law

LEFT = np.random.default_rng(0).normal(size=(20, 2))
PROFILE = SliceProfile.uniform(2, n_slices=16)


def test_a_shift_costs_its_projection():
    shift = np.array([1.0, 0.5])
    display = SliceProfileDisplay.from_outputs(LEFT, LEFT + shift, PROFILE, sigma=2.0, order=4)
    expected = 4 * (PROFILE.directions @ shift) ** 2 / (2 * 4)
    np.testing.assert_allclose(display.divergences, expected)
    assert display.average == pytest.approx(expected.mean())
    assert display.joint == pytest.approx(np.log(np.mean(np.exp(3 * expected))) / 3)
    assert display.average <= display.joint <= expected.max()


def test_of_two_numbers_the_angle_is_the_direction():
    display = SliceProfileDisplay.from_outputs(LEFT, LEFT + np.array([1, 0]), PROFILE, sigma=2.0)
    line = display.ax_.get_lines()[0]
    angles, radii = line.get_data()
    assert len(angles) == 33
    np.testing.assert_allclose(radii, 4 * np.cos(angles) ** 2 / 8, atol=1e-12)


def test_of_more_numbers_slices_are_sorted_to_both_sides():
    left = np.random.default_rng(1).normal(size=(10, 5))
    profile = SliceProfile.uniform(5, n_slices=40)
    display = SliceProfileDisplay.from_outputs(left, left + 1, profile, sigma=3.0)
    radii = display.ax_.get_lines()[0].get_ydata()
    assert radii[0] == radii.max() == radii[-1]
    assert np.argmin(radii) in {19, 20, 21}
    assert sorted(radii[:-1]) == pytest.approx(sorted(display.divergences))


def test_a_law_costs_what_it_says():
    generator = np.random.default_rng(3)
    X, group = generator.normal(size=(30, 3)), np.repeat([0, 1, 2], 10)
    X[group == 1] += 0.5
    scenario = GroupScenario()
    worlds = worlds_of(scenario, X, group)
    vectors = np.stack([world.data(X, None)[0].mean(axis=0) for world in worlds.worlds])
    profile = SliceProfile.uniform(3, n_slices=30)
    target = SlicedTarget(epsilon=1.0, order=4.0, aggregation="average", profile=profile)
    law = sliced_law(vectors, worlds, target)
    display = SliceProfileDisplay.from_law(law, worlds, profile)
    assert display.average == pytest.approx(law.costs.average, rel=1e-4)
    assert display.divergences.max() <= law.costs.worst_slice * (1 + 1e-4)
    assert display.full == law.costs.full


def test_an_estimator_is_replayed():
    X, y = load_iris(return_X_y=True)
    model = SRPPPrivate(Ridge(), scenario=PrevalenceScenario(n_draws=4), slices=20)
    model.fit(X[:, :3], X[:, 3], secret=y == 1)
    display = SliceProfileDisplay.from_estimator(model, X[:, :3], X[:, 3], secret=y == 1)
    assert display.average == pytest.approx(model.guarantee_.costs.average, rel=1e-4)
    assert display.full == model.guarantee_.costs.full


def worlds_of(scenario, X, group):
    from pacsklearn.srpp.scenarios.scenario import SecretColumn

    return scenario.worlds(X, None, SecretColumn(group, None))


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="shape"):
        SliceProfileDisplay.from_outputs(np.ones((3, 4)), np.ones((3, 4)), PROFILE, sigma=1)
    with pytest.raises(ValueError, match="sigma"):
        SliceProfileDisplay.from_outputs(LEFT, LEFT, PROFILE, sigma=0)
    with pytest.raises(ValueError, match="polar"):
        SliceProfileDisplay.from_outputs(LEFT, LEFT, PROFILE, sigma=1, ax=plt.subplots()[1])
