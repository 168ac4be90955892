"""Colours and markers of all displays, and the way to matplotlib."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["COLOURS", "MARKERS", "NEUTRAL", "below_axes", "percent", "pyplot"]

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by readers with any colour vision."""

MARKERS: Final = ("o", "s", "^", "D", "v", "P")
"""For print without colours."""

NEUTRAL: Final = "#595959"
"""Bounds, limits and whatever is no measurement."""


def pyplot(display: str) -> Any:
    """``matplotlib.pyplot``, or an error that names the extra.

    Raises
    ------
    ImportError
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{display} needs matplotlib: pip install pacsklearn[plot]") from error
    return plt


def below_axes(ax: Any, inches: float = 0.45) -> Any:
    """Transform of a legend that lies so far below the axes, whatever their height."""
    from matplotlib.transforms import ScaledTranslation

    return ax.transAxes + ScaledTranslation(0, -inches, ax.figure.dpi_scale_trans)


def percent(share: float) -> float:
    """Per cent."""
    return 100 * float(share)
