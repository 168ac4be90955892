"""Colours, markers and style of all displays."""

from __future__ import annotations

from typing import Any, Final

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by readers with any colour vision."""

MARKERS: Final = ("o", "s", "^", "D", "v", "P")
"""For print without colours."""

NEUTRAL: Final = "#737373"
"""Text, bounds, limits and whatever is no measurement: contrast above 4 on white and on black."""

STYLE: Final[Any] = {
    "axes.edgecolor": NEUTRAL,
    "axes.facecolor": "none",
    "axes.grid": False,
    "axes.labelcolor": NEUTRAL,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": NEUTRAL,
    "axes.titlesize": "medium",
    "figure.facecolor": "none",
    "font.size": 10.0,
    "grid.alpha": 0.25,
    "grid.color": NEUTRAL,
    "legend.frameon": False,
    "legend.labelcolor": NEUTRAL,
    "lines.markersize": 5.0,
    "savefig.facecolor": "none",
    "text.color": NEUTRAL,
    "xtick.color": NEUTRAL,
    "ytick.color": NEUTRAL,
}
"""Settings of matplotlib for pages that are light or dark: no background, grey text."""


def legend_below(ax: Any, columns: int = 2, *, inches: float = 0.45, **options: Any) -> Any:
    """Put the legend so far below the axes, whatever their height, where it covers no curve."""
    from matplotlib.transforms import ScaledTranslation

    below = ScaledTranslation(0, -inches, ax.figure.dpi_scale_trans)
    return ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + below,
        ncols=columns,
        **options,
    )


def series_style(place: int) -> dict[str, str]:
    """Return colour and marker of the series at a place, which begin again after the last."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def percent(share: float) -> float:
    """Write a share in per cent."""
    return 100 * float(share)
