"""Tables, and one line for each figure that was promised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Aligned columns, the first to the left."""
    shown = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    print(f"\n{title}")
    for i, row in enumerate(shown):
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        print("  " + "  ".join(cells))
        if i == 0:
            print("  " + "-" * (sum(widths) + 2 * len(widths) - 2))


@dataclass
class Figures:
    """Targets of the issue and what was measured."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, name: str, target: str, measured: str, met: object) -> None:
        """One figure; ``met`` is None when it could not be measured."""
        verdict = "skipped" if met is None else "met" if met else "NOT MET"
        self.rows.append((name, target, measured, verdict))

    def note(self, name: str, measured: str) -> None:
        """Something to compare with, that is nobody's target."""
        self.rows.append((name, "to compare", measured, ""))

    def at_least(self, name: str, target: float, measured: float, unit: str = "%") -> None:
        self.add(name, f">= {target:g} {unit}", f"{measured:.2f} {unit}", measured >= target)

    def at_most(self, name: str, target: float, measured: float, unit: str = "") -> None:
        self.add(name, f"<= {target:g} {unit}", f"{measured:.3f} {unit}", measured <= target)

    def show(self) -> None:
        print_table("figures", ("figure", "target", "measured", ""), self.rows)
