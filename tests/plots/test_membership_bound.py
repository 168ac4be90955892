from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from pacsklearn import PACPrivate, Subsets
from pacsklearn.plots.membership_bound import MembershipBoundDisplay


def test_lines_are_the_published_table():
    budgets = [1 / 64, 1 / 16, 1 / 4, 1]
    display = MembershipBoundDisplay.from_budgets(budgets, priors=(1 / 2, 1 / 100))
    half, rare = (line.get_ydata() for line in display.lines_)
    np.testing.assert_allclose(half, [58.815, 67.490, 83.789, 100], atol=2e-3)
    np.testing.assert_allclose(rare, [3.213, 6.200, 14.057, 35.729], atol=2e-3)


def test_the_right_axis_is_an_epsilon():
    display = MembershipBoundDisplay.from_budgets()
    ticks = display.dp_ax_.get_yticks()
    labels = [tick.get_text() for tick in display.dp_ax_.get_yticklabels()]
    assert ticks[labels.index("1")] == pytest.approx(100 * np.e / (1 + np.e))
    assert display.dp_ax_.get_ylim() == display.ax_.get_ylim()
    assert MembershipBoundDisplay.from_budgets(priors=[0.1]).dp_ax_ is None


def test_a_guarantee_lies_on_its_line():
    X, y = load_iris(return_X_y=True)
    model = PACPrivate(RidgeClassifier(), budget=1 / 16, secret=Subsets(16)).fit(X, y)
    display = MembershipBoundDisplay.from_guarantee(model.guarantee_)
    mark = display.ax_.get_lines()[-1]
    assert mark.get_xdata()[0] == model.guarantee_.spent
    assert mark.get_ydata()[0] == pytest.approx(67.49, abs=1e-2)
    assert "67.5" in mark.get_label()
    with pytest.raises(TypeError, match="PACGuarantee, got int"):
        MembershipBoundDisplay.from_guarantee(3)


def test_tick_labels_do_not_overlap():
    display = MembershipBoundDisplay.from_budgets()
    display.figure_.canvas.draw()
    boxes = [tick.get_window_extent() for tick in display.ax_.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
