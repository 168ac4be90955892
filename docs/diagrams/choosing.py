"""Draw docs/diagrams/choosing.svg: which promise and which release fit a case.

python docs/diagrams/choosing.py [--png FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

mpl.use("Agg")
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pacsklearn", "font.size": 9})
ASK, HERE, ELSEWHERE, EDGE = "#e8f1fa", "#e2f0e2", "#fbe3d6", "#737373"
# a question, what to do where the answer is yes, and whether that is ours
STEPS = (
    (
        "Is it secret who is in the table,\nor is a worst case required?",
        "differential privacy:\nOpenDP, diffprivlib, DP-EBM",
        ELSEWHERE,
    ),
    ("Is the secret a property of the data\n(a share, a group, a rate)?", "SRPPPrivate", HERE),
    (
        "Is there more than one release,\nor no list of attacks to fear?",
        "a budget in nats: Nats(1/16)",
        HERE,
    ),
    ("Is one attack to be capped,\nin one release?", "a cap: Membership(0.60)", HERE),
)
THEN = (
    ("Is the estimator in the list\nof estimators?", "release=Parameters()", HERE),
    ("Are there public rows,\nor a public schema?", "release=Student(queries=...)", HERE),
    ("Otherwise the model stays with you", "release=Answers(n)", HERE),
)


def box(ax, x: float, y: float, text: str, colour: str, width: float) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x, y - 0.36), width, 0.72, boxstyle="round,pad=0.04", facecolor=colour, edgecolor=EDGE
        )
    )
    ax.text(x + width / 2, y, text, ha="center", va="center", color="black")


def column(ax, x: float, title: str, steps) -> None:
    ax.text(x, 0.72, title, color=EDGE, weight="bold")
    for place, (question, action, colour) in enumerate(steps):
        y = -1.2 * place
        box(ax, x, y, question, ASK, 2.6)
        box(ax, x + 3.2, y, action, colour, 2.1)
        arrow = {"arrowstyle": "-|>", "color": EDGE}
        ax.annotate("", (x + 3.14, y), (x + 2.66, y), arrowprops=arrow)
        if question.endswith("?"):
            ax.text(x + 2.9, y + 0.1, "yes", color=EDGE, ha="center")
        if place + 1 < len(steps):
            ax.annotate("", (x + 1.3, y - 0.79), (x + 1.3, y - 0.41), arrowprops=arrow)
            ax.text(x + 1.4, y - 0.63, "no", color=EDGE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", help="also write a picture, to look at")
    png = parser.parse_args().png
    figure, ax = plt.subplots(figsize=(11, 4.2), layout="constrained")
    column(ax, 0, "1. What to promise", STEPS)
    column(ax, 6.1, "2. What to release", THEN)
    ax.set(xlim=(-0.2, 11.6), ylim=(-4.1, 1))
    ax.axis("off")
    figure.savefig(Path(__file__).with_suffix(".svg"), transparent=True, metadata={"Date": None})
    if png:
        figure.savefig(png, dpi=100, facecolor="white")


if __name__ == "__main__":
    main()
