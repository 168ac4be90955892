"""What is left of a ceiling after every charge, as a picture made on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

WIDTH: Final = 640
HEIGHT: Final = 220
_LEFT: Final = 64
_BOTTOM: Final = 36
_TOP: Final = 12


@final
@dataclass(frozen=True)
class BurnDown:
    """Lines of a picture, in its own units.

    Parameters
    ----------
    points : sequence of (int, float)
        Number of charges, and nats that are left after them; the first is the ceiling.
    ceiling : float
        Nats.
    """

    points: Sequence[tuple[int, float]]
    ceiling: float
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def last(self) -> int:
        """Number of charges."""
        return self.points[-1][0]

    def x(self, number: float) -> float:
        """Place of a number of charges."""
        return round(_LEFT + (WIDTH - _LEFT - 12) * number / max(self.last, 1), 2)

    def y(self, left: float) -> float:
        """Place of what is left; the bottom is nothing."""
        share = min(max(left / self.ceiling, 0.0), 1.0)
        return round(_TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - share), 2)

    @property
    def line(self) -> str:
        """Steps: between two charges nothing changes."""
        (first, left), *others = self.points
        path = [f"M{self.x(first)} {self.y(left)}"]
        for number, after in others:
            path.append(f"H{self.x(number)} V{self.y(after)}")
        if not others:
            path.append(f"H{WIDTH - 12}")
        return " ".join(path)

    @property
    def area(self) -> str:
        """What lies below the line."""
        right = self.x(self.last) if self.last else WIDTH - 12
        return f"{self.line} L{right} {self.y(0)} L{_LEFT} {self.y(0)} Z"

    @property
    def ticks(self) -> list[tuple[float, float]]:
        """Heights of the lines across, and the nats they stand for."""
        return [(self.y(self.ceiling * k / 4), self.ceiling * k / 4) for k in range(5)]
