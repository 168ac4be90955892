"""Utility against privacy, drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pacsklearn.plots.display import Display, pyplot
from pacsklearn.plots.palette import NEUTRAL, legend_below, series_style
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve

_MOST_TICKS = 10
_STEP_ASIDE = 2**0.1


@dataclass(eq=False, kw_only=True, repr=False)
class PrivacyUtilityDisplay(Display):
    """Utility of released models against the budget, and what the budget means.

    For each noise backend the median score of the simulated releases and their quartiles: a band,
    or bars side by side where the bands of several backends would hide each other. Dashed, the
    score without noise; dotted, on the right-hand axis, the bound on any adversary's success at
    telling whether one row was used, of the backend where it is largest.

    It shows functions of the private rows: choosing a budget by looking at private data is itself
    a release unless the choice stays with the curator.

    Parameters
    ----------
    curve : PrivacyUtilityCurve
        What :func:`pacsklearn.tabular.privacy_utility_curve` returned.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the scores.
    membership_ax_ : matplotlib Axes
        Right-hand axes with the membership bound.
    figure_ : matplotlib Figure
        Figure that holds them.
    lines_ : list of matplotlib Line2D
        Median of each noise backend.
    spreads_ : list of matplotlib collections
        Quartiles of each noise backend.
    legend_ : matplotlib Legend
        Below the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = PrivacyUtilityDisplay.from_estimator(
    ...     RidgeClassifier(alpha=100), X, y, budgets=[1 / 16, 1 / 4, 1], n_releases=20
    ... )
    """

    curve: PrivacyUtilityCurve

    @classmethod
    def from_curve(cls, curve: PrivacyUtilityCurve, ax: Any = None) -> PrivacyUtilityDisplay:
        """Draw a curve that is already there.

        Parameters
        ----------
        curve : PrivacyUtilityCurve
        ax : matplotlib Axes, optional
            A new figure is made when not given.
        """
        return cls(curve=curve).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None, **options: Any
    ) -> PrivacyUtilityDisplay:
        """Fit, simulate and draw.

        Parameters
        ----------
        estimator : estimator
        X, y : array-likes
        ax : matplotlib Axes, optional
            A new figure is made when not given.
        **options : dict
            Passed to :func:`pacsklearn.tabular.privacy_utility_curve`.
        """
        pyplot(cls.__name__)
        return cls(curve=privacy_utility_curve(estimator, X, y, **options)).plot(ax)

    def _draw(self, ax: Any) -> None:
        self.lines_: list[Any] = []
        self.spreads_: list[Any] = []
        ax.set_xscale("log", base=2)
        for i, noise in enumerate(self.curve.noises):
            self._draw_backend(i, noise)
        baseline = ax.axhline(
            self.curve.noiseless_score, linestyle="--", color=NEUTRAL, label="no noise, not private"
        )
        self._label([*self.lines_, baseline, self._draw_membership()])

    def _draw_backend(self, index: int, noise: str) -> None:
        points = self.curve.of(noise)
        label = "least noise under the cap" if noise == "criterion" else noise
        style = {**series_style(index), "markersize": 4.5, "label": label}
        # Bands of several backends would hide each other: bars, side by side.
        alone = len(self.curve.noises) == 1
        aside = index - (len(self.curve.noises) - 1) / 2
        budgets = np.array([point.budget for point in points]) * _STEP_ASIDE**aside
        (line,) = self.ax_.plot(budgets, [point.median for point in points], **style)
        self.lines_.append(line)
        low, high = ([point.quantile(q) for point in points] for q in (0.25, 0.75))
        colour = line.get_color()
        self.spreads_.append(
            self.ax_.fill_between(budgets, low, high, color=colour, alpha=0.2, linewidth=0)
            if alone
            else self.ax_.vlines(budgets, low, high, colors=colour, alpha=0.6)
        )

    def _draw_membership(self) -> Any:
        # By what each release states: caps on other attacks promise less of membership than nats.
        points, budgets = self.curve.points, self.curve.budgets
        bounds = [
            max(100 * point.posterior_membership for point in points if point.budget == budget)
            for budget in budgets
        ]
        right = self.ax_.twinx()
        (line,) = right.plot(budgets, bounds, ".:", color=NEUTRAL, label="membership bound (right)")
        low = 100 * self.curve.prior_membership
        right.set_ylim(low - 0.02 * (100 - low), 100 + 0.04 * (100 - low))
        right.set_ylabel("membership bound (%)")
        # The scores stay in front of the bound.
        self.ax_.set_zorder(right.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        self.membership_ax_ = right
        return line

    def _label(self, handles: list[Any]) -> None:
        stated = {point.budget: point.stated for point in self.curve.points}
        every = -(-len(stated) // _MOST_TICKS)
        ticks = sorted(stated)[::-1][::every][::-1]
        labels = [stated[budget].replace("(", "\n(") for budget in ticks]
        self.ax_.set_xticks(ticks, labels)
        self.ax_.minorticks_off()
        capped = any("\n" in label for label in labels)
        label = "at the nats that imply as much" if capped else "in nats of mutual information"
        self.ax_.set_xlabel(f"budget {label} (smaller is more private)")
        self.ax_.set_ylabel(f"{self.curve.scoring} on held-out rows")
        self.ax_.grid(visible=True, axis="y", alpha=0.25)
        inches = 0.6 if capped else 0.45
        self.legend_ = legend_below(self.ax_, 3, inches=inches, handles=handles)
