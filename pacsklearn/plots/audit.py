"""Attacks beside what the guarantee allows, drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pacsklearn.audit.audit_record import Audit
from pacsklearn.plots.display import Display
from pacsklearn.plots.palette import COLOURS, NEUTRAL, legend_below, percent, series_style


@dataclass(eq=False, kw_only=True, repr=False)
class AuditDisplay(Display):
    """Success of each attack with its exact interval, and their true against false alarms.

    Left, an interval for each attack, a tick where guessing blindly is and a diamond where the
    guarantee's limit is: an interval that lies wholly right of its diamond refutes the guarantee.
    Right, the receiver operating characteristics of the attacks on membership; dashed, blind
    guessing; dotted, where an attack would have to get to in order to reach the limit.

    Parameters
    ----------
    audit : Audit
        What :func:`pacsklearn.audit.run_audit` returned.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        Success, and characteristics.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import PACPrivate, Subsets
    >>> from pacsklearn.audit import run_audit
    >>> from pacsklearn.plots import AuditDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y)
    >>> display = AuditDisplay.from_audit(run_audit(model, X, y, n_trials=50))
    """

    audit: Audit

    _grid: ClassVar = {"ncols": 2, "width_ratios": (1.5, 1)}

    @classmethod
    def from_audit(cls, audit: Audit, ax: Any = None) -> AuditDisplay:
        """Draw an audit.

        Parameters
        ----------
        audit : Audit
        ax : pair of matplotlib Axes, optional
            A new figure is made when not given.
        """
        return cls(audit=audit).plot(ax)

    @property
    def _size(self) -> tuple[float, float]:
        return 10.5, max(3.8, 1.6 + 0.55 * len(self.audit.results))

    def _draw(self, success: Any, characteristics: Any) -> None:
        self._draw_success(success)
        self._draw_characteristics(characteristics)

    def _draw_success(self, ax: Any) -> None:
        names = []
        for place, result in enumerate(self.audit.results):
            low, high = map(percent, self.audit.interval(result))
            middle = percent(result.success)
            ends = [[middle - low], [high - middle]]
            ax.errorbar(middle, place, xerr=ends, **series_style(place), capsize=4, markersize=6)
            ax.plot(percent(result.prior), place, "|", color=NEUTRAL, markersize=18)
            if result.bound is not None:
                ax.plot(percent(result.bound), place, "d", color=NEUTRAL, markersize=8)
            words = result.criterion.replace("naming a subset with ", "a subset, ")
            refuted = result.violates(self.audit.attack_level)
            names.append(f"{result.attack}\n{words}" + ("\nREFUTED" if refuted else ""))
        ax.set_yticks(range(len(names)), names)
        ax.set(xlim=(0, 104), ylim=(len(names) - 0.5, -0.5))
        ax.set(xlabel="success (% of rounds)", title="Success of each attack")
        ax.grid(visible=True, axis="x", alpha=0.25)
        shown = f"attack, {100 * self.audit.level:g} % interval (all together)"
        ax.errorbar([], [], xerr=[], fmt="o", color=COLOURS[0], capsize=4, label=shown)
        ax.plot([], [], "|", color=NEUTRAL, markersize=12, label="guessing blindly")
        ax.plot([], [], "d", color=NEUTRAL, markersize=8, label="allowed by the guarantee")
        legend_below(ax, 3, fontsize="small")

    def _draw_characteristics(self, ax: Any) -> None:
        places = {result.attack: i for i, result in enumerate(self.audit.results)}
        ax.plot([0, 100], [0, 100], "--", color=NEUTRAL, linewidth=1, label="guessing blindly")
        limits = [
            result.bound
            for result in self.audit.results
            if result.criterion == "membership of one unit"
            and result.bound is not None
            and result.prior == 0.5
        ]
        if limits:
            lift = 2 * percent(max(limits)) - 100
            ax.plot(
                [0, 100 - lift], [lift, 100], ":", color=NEUTRAL, label="limit of the guarantee"
            )
        for curve in self.audit.curves:
            alarms = list(map(percent, curve.false_positive_rate))
            hits = list(map(percent, curve.true_positive_rate))
            colour = series_style(places.get(curve.attack, 0))["color"]
            ax.step(alarms, hits, where="post", color=colour, label=curve.attack)
        ax.set(xlim=(-2, 102), ylim=(-2, 102), aspect="equal", title="Membership of one unit")
        ax.set(xlabel="false alarms (%)", ylabel="members found (%)")
        ax.grid(visible=True, alpha=0.25)
        legend_below(ax, fontsize="small")
