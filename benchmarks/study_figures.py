"""Figures of the study, in the order of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from pacsklearn.plots.palette import COLOURS, MARKERS, NEUTRAL
from pacsklearn.tabular.choosing.privacy_utility_curve import budget_label

# Noises in the order of their colours.
LABELS = {"isotropic": "isotropic", "diagonal": "diagonal (published)", "logdet": "ours"}

Curve = Mapping[float, tuple[float, float]]


def accuracy_figure(
    path: Path,
    title: str,
    ylabel: str,
    panels: Mapping[str, tuple[Mapping[str, Curve], float]],
) -> None:
    """One panel a data set: a curve for each noise, and the model without noise."""
    figure, axes = _panels(len(panels))
    for ax, (name, (curves, noiseless)) in zip(axes, panels.items(), strict=True):
        ax.axhline(noiseless, color=NEUTRAL, linestyle="--", linewidth=1.2, label="without noise")
        for (noise, label), colour, marker in zip(
            LABELS.items(), COLOURS[1::-1] + COLOURS[2:3], MARKERS, strict=False
        ):
            budgets = sorted(curves[noise])
            means, errors = np.array([curves[noise][b] for b in budgets]).T
            ax.errorbar(
                budgets, means, 2 * errors, color=colour, marker=marker, markersize=4, label=label
            )
        _budget_axis(ax, budgets)
        ax.set_title(name)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel(ylabel)
    _finish(figure, axes[0], title, path)


def variance_figure(path: Path, shares: Mapping[str, Sequence[float]]) -> None:
    """Share of the variance that each principal component explains."""
    figure, axes = _panels(len(shares))
    for ax, (name, share) in zip(axes, shares.items(), strict=True):
        ax.bar(np.arange(1, len(share) + 1), 100 * np.asarray(share), color=COLOURS[0])
        ax.set_xticks(np.arange(1, len(share) + 1))
        ax.set_xlabel("component")
        ax.set_title(name)
    axes[0].set_ylabel("variance explained (%)")
    figure.suptitle("Figure 5: principal components")
    figure.tight_layout()
    _save(figure, path)


def convergence_figure(path: Path, name: str, runs: Mapping[str, np.ndarray], found: int) -> None:
    """Running estimate of the first output's variance, relative to the last."""
    figure, ax = plt.subplots(figsize=(6.0, 3.6))
    for (model, estimates), colour in zip(runs.items(), COLOURS, strict=False):
        trials = np.arange(2, len(estimates) + 2)
        ax.plot(trials, estimates / estimates[-1], color=colour, label=model, linewidth=1.2)
    ax.axhline(1, color=NEUTRAL, linestyle="--", linewidth=1)
    ax.axvline(found, color=NEUTRAL, linestyle=":", linewidth=1.2)
    ax.annotate(
        f"{found} candidates:\nexact, no estimate",
        (found, 0.06),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        color=NEUTRAL,
        fontsize=9,
    )
    ax.set_xscale("log")
    ax.set_ylim(0, 2.2)
    ax.set_xlabel("trials")
    ax.set_ylabel("variance, relative to the last")
    ax.set_title(f"Figure 10: estimated variance of the first output, {name}")
    ax.legend(frameon=False, loc="upper right")
    figure.tight_layout()
    _save(figure, path)


def lira_figure(
    path: Path, data: str, runs: Mapping[str, Mapping[str, Any]], bounds: Mapping[str, float]
) -> None:
    """Mean advantage of the attack by budget, beside the bound."""
    figure, axes = _panels(len(runs))
    for ax, (name, found) in zip(axes, runs.items(), strict=True):
        labels = [label for label in found if label != "none"]
        place = np.arange(len(labels))
        ax.bar(
            place, [100 * found[label].mean for label in labels], color=COLOURS[2], label="attack"
        )
        ax.plot(
            place,
            [100 * bounds[label] for label in labels],
            color=NEUTRAL,
            marker="_",
            markersize=14,
            linestyle="",
            markeredgewidth=2,
            label="bound",
        )
        ax.axhline(
            100 * found["none"].mean,
            color=COLOURS[1],
            linestyle="--",
            linewidth=1.2,
            label="attack without noise",
        )
        ax.set_xticks(place, labels)
        ax.set_xlabel("budget (nats)")
        ax.set_title(name)
        ax.set_ylim(-1.5, 53)
    axes[0].set_ylabel("advantage over guessing\n(percentage points)")
    _finish(figure, axes[0], f"Figure 11: likelihood-ratio attack, {data}", path)


def confidence_figure(
    path: Path, data: str, runs: Mapping[str, Mapping[str, Any]], budget: str
) -> None:
    """What the attack looks at: confidence in the most exposed row, when used and when not."""
    figure, axes = plt.subplots(
        2, len(runs), figsize=(3.4 * len(runs), 5.0), squeeze=False, sharey="row"
    )
    for column, (name, found) in enumerate(runs.items()):
        for row, label in enumerate(("none", budget)):
            ax, seen = axes[row, column], found[label]
            both = np.concatenate([seen.inside, seen.outside])
            bins = np.linspace(both.min(), both.max() + 1e-9, 31)
            for values, colour, what in (
                (seen.inside, COLOURS[0], "row used"),
                (seen.outside, COLOURS[1], "row not used"),
            ):
                weights = np.full(len(values), 1 / len(values))
                ax.hist(values, bins, weights=weights, color=colour, alpha=0.55, label=what)
            shown = "without noise" if label == "none" else f"budget {label} nats"
            ax.set_title(f"{name}, {shown}", fontsize=10)
        axes[1, column].set_xlabel("confidence in the row")
    for row in axes:
        row[0].set_ylabel("share of releases")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.suptitle(f"Section 8: the most exposed row of {data}")
    figure.legend(handles, labels, loc="lower center", ncol=2, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    _save(figure, path)


def _panels(count: int) -> tuple[Any, Any]:
    figure, axes = plt.subplots(1, count, figsize=(3.9 * count + 0.6, 3.9), squeeze=False)
    return figure, axes[0]


def _budget_axis(ax: Any, budgets: Sequence[float]) -> None:
    ax.set_xscale("log", base=2)
    shown = budgets[:: 1 + (len(budgets) > 6)]
    ax.set_xticks(shown, [budget_label(budget) for budget in shown])
    ax.minorticks_off()
    ax.set_xlabel("budget (nats)")


def _finish(figure: Any, ax: Any, title: str, path: Path) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.suptitle(title)
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
    plt.close(figure)
