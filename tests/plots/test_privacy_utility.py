"""The plot of utility against privacy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from pacsklearn import Identification, Membership, Subsets
from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve

OPTIONS = {"budgets": [1 / 64, 1 / 8, 1], "secret": Subsets(16), "n_releases": 8}
BACKENDS = ["logdet", "eigen", "diagonal", "isotropic"]


@pytest.fixture(autouse=True)
def pyplot() -> Iterator[Any]:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def curves() -> dict[int, PrivacyUtilityCurve]:
    X, y = load_iris(return_X_y=True)
    return {
        n: privacy_utility_curve(RidgeClassifier(), X, y, noise=BACKENDS[:n], **OPTIONS)
        for n in (1, 4)
    }


def test_one_backend_has_a_line_and_a_band(curves: Any) -> None:
    display = PrivacyUtilityDisplay.from_curve(curves[1])
    assert display.figure_ is display.ax_.figure
    (line,) = display.lines_
    points = curves[1].points
    np.testing.assert_allclose(line.get_xdata(), [1 / 64, 1 / 8, 1])
    np.testing.assert_allclose(line.get_ydata(), [point.median for point in points])
    (band,) = display.spreads_
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(min(point.quantile(0.25) for point in points))
    assert heights.max() == pytest.approx(max(point.quantile(0.75) for point in points))


def test_several_backends_stand_side_by_side(curves: Any) -> None:
    display = PrivacyUtilityDisplay.from_curve(curves[4])
    assert [line.get_label() for line in display.lines_] == BACKENDS
    assert len(display.spreads_) == 4
    first = [line.get_xdata()[0] for line in display.lines_]
    assert first == sorted(set(first))
    assert np.sqrt(first[0] * first[-1]) == pytest.approx(1 / 64)
    assert len({line.get_color() for line in display.lines_}) == 4


def test_axes_say_what_they_show(curves: Any) -> None:
    display = PrivacyUtilityDisplay.from_curve(curves[1])
    ax, right = display.ax_, display.membership_ax_
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1/64", "1/8", "1"]
    assert ax.get_xscale() == "log"
    assert "nats" in ax.get_xlabel()
    assert ax.get_ylabel() == "accuracy on held-out rows"
    assert "%" in right.get_ylabel()
    (bound,) = right.get_lines()
    assert bound.get_ydata()[0] == pytest.approx(58.815, abs=1e-2)
    assert bound.get_ydata()[-1] == 100
    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [curves[1].noiseless_score]


def test_a_cap_is_named_and_promises_no_more_of_membership_than_it_does() -> None:
    X, y = load_iris(return_X_y=True)
    budgets = [1 / 64, Membership(0.7), Identification(0.3)]
    curve = privacy_utility_curve(RidgeClassifier(), X, y, **OPTIONS | {"budgets": budgets})
    display = PrivacyUtilityDisplay.from_curve(curve)
    ticks = [tick.get_text().replace("\n", "") for tick in display.ax_.get_xticklabels()]
    named = dict(zip(curve.budgets, ticks, strict=True))
    stated = {point.stated: 100 * point.posterior_membership for point in curve.points}
    assert sorted(ticks) == sorted(stated)
    assert "at the nats" in display.ax_.get_xlabel()
    (bound,) = display.membership_ax_.get_lines()
    drawn = dict(zip(bound.get_xdata(), bound.get_ydata(), strict=True))
    assert {tick: drawn[at] for at, tick in named.items()} == stated
    assert stated["Membership(0.7)"] <= 70 < stated["Identification(0.3)"]


def test_legend_lies_below_the_data_and_the_label(curves: Any) -> None:
    display = PrivacyUtilityDisplay.from_curve(curves[4])
    display.figure_.canvas.draw()
    legend = display.legend_.get_window_extent()
    label = display.ax_.xaxis.label.get_window_extent()
    assert legend.y1 <= label.y0
    assert legend.y0 >= 0
    assert len(display.legend_.get_texts()) == 6


def test_given_axes_are_drawn_on(curves: Any, pyplot: Any) -> None:
    figure, axes = pyplot.subplots(1, 2)
    display = PrivacyUtilityDisplay.from_curve(curves[1], axes[0])
    assert display.ax_ is axes[0]
    assert display.figure_ is figure


def test_many_budgets_are_not_all_labelled() -> None:
    X, y = load_iris(return_X_y=True)
    options = OPTIONS | {"budgets": np.geomspace(0.01, 2, 23)}
    display = PrivacyUtilityDisplay.from_estimator(RidgeClassifier(), X, y, **options)
    assert isinstance(display.curve, PrivacyUtilityCurve)
    assert len(display.ax_.get_xticks()) <= 10
    assert display.ax_.get_xticks()[-1] == pytest.approx(2)


def test_one_budget_can_be_drawn(curves: Any) -> None:
    X, y = load_iris(return_X_y=True)
    options = OPTIONS | {"budgets": [1]}
    display = PrivacyUtilityDisplay.from_estimator(RidgeClassifier(), X, y, **options)
    display.figure_.canvas.draw()


def test_without_matplotlib_the_extra_is_named(
    curves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="install"):
        PrivacyUtilityDisplay.from_curve(curves[1])
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ImportError, match="install"):
        PrivacyUtilityDisplay.from_estimator(RidgeClassifier(), X, y)


def test_the_noise_under_a_cap_is_named_in_words(curves: Any) -> None:
    points = tuple(replace(point, noise="criterion") for point in curves[1].points)
    display = PrivacyUtilityDisplay.from_curve(replace(curves[1], points=points))
    assert [line.get_label() for line in display.lines_] == ["least noise under the cap"]
