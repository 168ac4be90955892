"""A bound, or a fact beside it, with its unit and what it means."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, final

from pacsklearn.kernel.guarantee.statement_rendering import percent_up, rounded_up


@final
@dataclass(frozen=True)
class Figure:
    """A figure of a guarantee. Prints rounded so that no bound is stated too small.

    Parameters
    ----------
    name : str
    value : float or str or None
        None where it is not computed, or there is none.
    unit : str
        ``"nats"``, ``"share"`` (a probability), ``"epsilon"``, ``"count"``, or nothing.
    meaning : str
        What it bounds or says, in words.
    blind : float, optional
        Of a success: that of guessing blindly.
    """

    name: str
    value: float | str | None
    unit: str
    meaning: str
    blind: float | None = None

    def __str__(self) -> str:
        value, unit = self.value, self.unit
        if value is None:
            return "none"
        if isinstance(value, str):
            return value
        if unit == "share":
            without = "" if self.blind is None else f" ({percent_up(self.blind)} % blindly)"
            return f"at most {percent_up(value)} %{without}"
        if unit == "nats":
            return f"at most {rounded_up(value)} nats"
        if unit == "epsilon":
            return rounded_up(value)
        return f"{value:,}" if unit == "count" else f"{value:.8g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            name: value for name, value in asdict(self).items() if (name, value) != ("blind", None)
        }


def confidence_figure(confidence: float) -> Figure:
    """Return the figure of how surely the bounds hold."""
    certain = "The bounds are proved." if confidence == 1 else "Probability that the bounds hold."
    return Figure("confidence", confidence, "", certain)
