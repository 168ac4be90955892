from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pacsklearn.plots.belief import BeliefDisplay
from pacsklearn.secrets import balanced_space

SPACE = balanced_space(40, n_subsets=16)
SAID = np.random.default_rng(0).integers(0, 2, (30, 16))


def test_it_begins_with_the_prior_and_stays_a_distribution():
    display = BeliefDisplay.from_rehearsal(SAID, SPACE, step_budget=1 / 8)
    assert display.beliefs.shape == (31, 16)
    np.testing.assert_allclose(display.beliefs[0], 1 / 16)
    np.testing.assert_allclose(display.beliefs.sum(axis=1), 1)
    assert 0 <= display.drawn < 16


def test_answers_all_agree_on_change_nothing():
    display = BeliefDisplay.from_rehearsal(np.zeros((5, 16), int), SPACE, step_budget=1 / 8)
    np.testing.assert_allclose(display.beliefs, 1 / 16)


def test_the_lines_are_belief_and_entropy():
    display = BeliefDisplay.from_rehearsal(SAID, SPACE, step_budget=1 / 8, n_queries=10)
    above, below = display.axes_
    drawn = above.get_lines()[-1]
    np.testing.assert_allclose(drawn.get_ydata(), 100 * display.beliefs[:, display.drawn])
    entropy, least = (line.get_ydata() for line in below.get_lines())
    assert entropy[0] == pytest.approx(np.log(16))
    np.testing.assert_allclose(least, np.log(16) - np.arange(11) / 8)
    assert "nats" in below.get_ylabel()


@pytest.mark.soak
def test_entropy_is_above_the_guarantee_on_average():
    """Over 60 conversations; the standard error of the mean is below 0.05."""
    left = []
    for seed in range(60):
        figure, axes = plt.subplots(2, 1)
        path = BeliefDisplay.from_rehearsal(
            SAID, SPACE, step_budget=1 / 16, n_queries=8, random_state=seed, ax=axes
        ).beliefs
        plt.close(figure)
        left.append(-(path[-1] * np.log(path[-1])).sum())
    assert np.mean(left) > np.log(16) - 8 / 16 - 0.2


def test_given_axes_are_drawn_on():
    figure, axes = plt.subplots(2, 1)
    display = BeliefDisplay.from_rehearsal(SAID, SPACE, step_budget=1 / 8, ax=axes)
    assert display.figure_ is figure
