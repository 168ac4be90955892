"""Draw docs/diagrams/lifecycle.svg: the way from rows to a release.

python docs/diagrams/lifecycle.py [--png FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

mpl.use("Agg")
# Text stays text, and the same file comes out every time.
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pacsklearn", "font.size": 9})

PUBLIC, SECRET, OUT, MONEY = "#e8f1fa", "#fbe3d6", "#e2f0e2", "#fff5cc"
WIDTH, HEIGHT = 2.15, 1.05

# name, column, row, colour, title, what happens
BOXES = (
    ("rows", 0, 0, SECRET, "rows", "the curator's table,\nthe universe"),
    ("space", 1, 0, PUBLIC, "secret space", "m candidate subsets,\neach row in half of them"),
    ("fits", 2, 0, SECRET, "m fitted models", "one a candidate, from\nits own rows alone"),
    (
        "vectors",
        3,
        0,
        SECRET,
        "canonical vectors",
        "differences that change\nno prediction are gone",
    ),
    ("law", 3, 1, PUBLIC, "noise law", "least noise with a bound\non whole numbers"),
    ("ledger", 2, 1, MONEY, "ledger", "charged first, or\nBudgetExhaustedError"),
    ("draw", 1, 1, SECRET, "draw", "the secret once a session,\nfresh noise every release"),
    ("release", 0, 1, OUT, "release", "whole numbers, decoded;\nand its guarantee"),
    ("belief", 1, 2, PUBLIC, "belief", "Bayes' rule: what anybody\nnow knows of the secret"),
)
ARROWS = (
    ("rows", "space"),
    ("space", "fits"),
    ("fits", "vectors"),
    ("vectors", "law"),
    ("law", "ledger"),
    ("ledger", "draw"),
    ("draw", "release"),
)


def corner(column: int, row: int) -> tuple[float, float]:
    return column * 2.75, -row * 1.65


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", help="also write a picture, to look at")
    png = parser.parse_args().png
    figure, ax = plt.subplots(figsize=(10.6, 5.2))
    place = {}
    for name, column, row, colour, title, text in BOXES:
        x, y = corner(column, row)
        place[name] = (x, y)
        box = FancyBboxPatch(
            (x, y), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.08", fc=colour, ec="#444"
        )
        ax.add_patch(box)
        ax.text(x + WIDTH / 2, y + HEIGHT - 0.2, title, ha="center", va="center", weight="bold")
        ax.text(x + WIDTH / 2, y + 0.4, text, ha="center", va="center", fontsize=8.5)

    def arrow(start: tuple[float, float], end: tuple[float, float], bend: float = 0) -> None:
        ax.add_patch(
            FancyArrowPatch(
                start,
                end,
                arrowstyle="-|>",
                mutation_scale=13,
                color="#444",
                shrinkA=2,
                shrinkB=2,
                connectionstyle=f"arc3,rad={bend}",
            )
        )

    for first, second in ARROWS:
        (x, y), (u, v) = place[first], place[second]
        if y == v:
            left = u < x
            arrow(
                (x if left else x + WIDTH, y + HEIGHT / 2),
                (u + WIDTH if left else u, v + HEIGHT / 2),
            )
        else:
            arrow((x + WIDTH / 2, y), (u + WIDTH / 2, v + HEIGHT))
    x, y = place["release"]
    u, v = place["belief"]
    arrow((x + WIDTH / 2, y), (u, v + HEIGHT / 2), bend=0.25)
    u, v = u + WIDTH, v + HEIGHT / 2
    x, y = place["law"]
    arrow((u, v), (x + WIDTH / 2, y), bend=0.22)
    ax.text(x - 0.1, v - 0.25, "the next release of the session", ha="center", fontsize=8.5)
    legend = (
        (SECRET, "stays with the curator"),
        (PUBLIC, "the adversary is taken to know it"),
        (OUT, "may be published"),
        (MONEY, "records, or refuses"),
    )
    for i, (colour, text) in enumerate(legend):
        y = corner(0, 2)[1] + 0.2 - 0.33 * i
        box = FancyBboxPatch(
            (0.0, y + 0.05),
            0.3,
            0.2,
            boxstyle="round,pad=0,rounding_size=0.04",
            fc=colour,
            ec="#444",
        )
        ax.add_patch(box)
        ax.text(0.42, y + 0.15, text, va="center", fontsize=8.5)
    ax.set(xlim=(-0.1, 10.5), ylim=(-4.15, 1.2), aspect="equal")
    ax.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    target = Path(__file__).with_name("lifecycle.svg")
    figure.savefig(target, metadata={"Date": None}, facecolor="white")
    # The house's editor settings leave no blanks at the ends of lines.
    lines = target.read_text(encoding="utf-8").splitlines()
    target.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
    if png:
        figure.savefig(png, dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
