"""What a budget means for one person, drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacsklearn.estimators.dp_comparison import dp_success
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.plots.display import Display
from pacsklearn.plots.palette import COLOURS, NEUTRAL, legend_below, percent

_BUDGETS = tuple(np.geomspace(2.0**-10, 4, 161).tolist())
_PRIORS = (1 / 2, 1 / 10, 1 / 100)
_EPSILONS = (0.1, 0.25, 0.5, 1, 2, 3, 5)


@dataclass(eq=False, kw_only=True, repr=False)
class MembershipBoundDisplay(Display):
    """Most that any adversary's success can be, against the budget.

    One line for each blind success; the right-hand axis reads the line at even odds (membership of
    one row) as the epsilon of a differentially private mechanism with the same bound, a comparison
    and no claim. Needs no data.

    Parameters
    ----------
    budgets : tuple of float
        Nats, increasing.
    priors : tuple of float
        Success of guessing blindly.
    guarantee : PACGuarantee, optional
        Marked on the line of its own prior.

    Attributes
    ----------
    ax_ : matplotlib Axes
    dp_ax_ : matplotlib Axes
        Right-hand axis; None when no line is at even odds.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Notes
    -----
    Source: pac-private-algorithms, equations 2 and 3.

    Examples
    --------
    >>> from pacsklearn.plots import MembershipBoundDisplay
    >>> display = MembershipBoundDisplay.from_budgets([1 / 64, 1 / 16, 1 / 4, 1])
    """

    budgets: tuple[float, ...]
    priors: tuple[float, ...]
    guarantee: PACGuarantee | None = None

    @classmethod
    def from_budgets(
        cls,
        budgets: Iterable[float] = _BUDGETS,
        *,
        priors: Iterable[float] = _PRIORS,
        ax: Any = None,
    ) -> MembershipBoundDisplay:
        """Draw the bounds at several budgets.

        Parameters
        ----------
        budgets : iterable of float
            Nats; a fine grid from 1/1024 to 4 when not given.
        priors : iterable of float, default=(1/2, 1/10, 1/100)
            Success of guessing blindly.
        ax : matplotlib Axes, optional
            A new figure is made when not given.
        """
        listed = tuple(sorted(float(budget) for budget in budgets))
        return cls(budgets=listed, priors=tuple(map(float, priors))).plot(ax)

    @classmethod
    def from_guarantee(cls, guarantee: PACGuarantee, *, ax: Any = None) -> MembershipBoundDisplay:
        """Draw the line of a guarantee's prior, and where the guarantee is on it.

        Parameters
        ----------
        guarantee : PACGuarantee
        ax : matplotlib Axes, optional
            A new figure is made when not given.
        """
        return display_of(guarantee).plot(ax)

    def _draw(self, ax: Any) -> None:
        self.lines_ = []
        styles = ("-", "--", "-.", ":")
        for i, prior in enumerate(self.priors):
            bound = [percent(posterior_success(budget, prior)) for budget in self.budgets]
            style, label = styles[i % len(styles)], f"blind success {percent(prior):.4g} %"
            colour = COLOURS[i % len(COLOURS)]
            (line,) = ax.plot(self.budgets, bound, style, color=colour, label=label)
            self.lines_.append(line)
        self.dp_ax_ = self._draw_epsilons() if 0.5 in self.priors else None
        if self.guarantee is not None and self.guarantee.information > 0:
            success = percent(self.guarantee.posterior_membership)
            label = f"this guarantee: at most {math.ceil(success * 100) / 100:.2f} %"
            ax.plot(self.guarantee.information, success, "D", color=NEUTRAL, label=label)
        self._label()

    def _draw_epsilons(self) -> Any:
        right = self.ax_.twinx()
        ticks = [percent(dp_success(epsilon)) for epsilon in _EPSILONS]
        right.set_yticks(ticks, [f"{epsilon:g}" for epsilon in _EPSILONS])
        right.set_ylabel("ε of DP with the same bound at even odds")
        return right

    def _label(self) -> None:
        ax = self.ax_
        ax.set_xscale("log", base=2)
        first, last = math.log2(self.budgets[0]), math.log2(self.budgets[-1])
        powers = range(math.ceil(first), math.floor(last) + 1)
        every = max(1, len(powers) // 5)
        shown = [power for power in powers if power % every == 0]
        labels = [f"1/{2**-power}" if power < 0 else f"{2**power}" for power in shown]
        ax.set_xticks([2.0**power for power in shown], labels)
        ax.minorticks_off()
        for axes in (ax, self.dp_ax_):
            if axes is not None:
                axes.set_ylim(0 if min(self.priors) < 0.3 else 40, 103)
        ax.set_xlabel("mutual information (nats; smaller is more private)")
        ax.set_ylabel("any adversary's success, at most (%)")
        ax.grid(visible=True, alpha=0.25)
        legend_below(ax, 3, fontsize="small")


def display_of(guarantee: PACGuarantee) -> MembershipBoundDisplay:
    """Return a display of a guarantee's prior and its place, not drawn yet."""
    if not isinstance(guarantee, PACGuarantee):
        raise TypeError(f"guarantee must be a PACGuarantee, got {type(guarantee).__name__}.")
    spent = guarantee.information
    return MembershipBoundDisplay(
        budgets=tuple(sorted({*_BUDGETS, *([spent] if spent > 0 else [])})),
        priors=(guarantee.prior_membership,),
        guarantee=guarantee,
    )
