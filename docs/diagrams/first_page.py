"""Measure and draw docs/diagrams/first_page.svg: what each promise costs, and what it covers.

python docs/diagrams/first_page.py [--measure] [--dp-python INTERPRETER] [--png FILE]

``--measure`` fits our models anew; an interpreter that has diffprivlib (``pip install diffprivlib
'scikit-learn<1.6'`` in an environment of its own) measures the others. What is found goes to
first_page.json, from which the picture is drawn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Membership, Nats, PACPrivate
from pacsklearn.audit import run_audit
from pacsklearn.bounds import dp_epsilon, mutual_information_for_success
from pacsklearn.plots.palette import COLOURS, NEUTRAL, STYLE

HERE = Path(__file__).parent
CAP, SPLITS = 0.60, 10


def split(seed: int) -> Any:
    """Rows of one of the ten splits."""
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)


def measured() -> dict[str, Any]:
    """Accuracy over ten splits without privacy, by a cap and by nats; the optimal attack."""
    recipe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    nats = mutual_information_for_success(CAP)
    found: dict[str, Any] = {"cap": CAP, "nats": nats, "epsilon": dp_epsilon(CAP), "splits": SPLITS}
    found |= {"plain": [], "private": [], "private_nats": []}
    for seed in range(SPLITS):
        X, X_test, y, y_test = split(seed)
        found["plain"].append(recipe.fit(X, y).score(X_test, y_test))
        by_nats = PACPrivate(recipe, budget=Nats(nats)).fit(X, y)
        found["private_nats"].append(by_nats.score(X_test, y_test))
        model = PACPrivate(recipe, budget=Membership(CAP)).fit(X, y)
        found["private"].append(model.score(X_test, y_test))
    audit = run_audit(model, X, y, attacks=["optimal_membership"], n_trials=20_000)
    found["attack"] = max(
        r.success for r in audit.results if r.criterion == "membership of one unit"
    )
    return found


def measured_dp(python: str) -> dict[str, Any]:
    """Accuracy over the same splits of the best of diffprivlib's classifiers."""
    theirs: dict[str, list[float]] = {}
    for seed in range(SPLITS):
        for name, score in of_diffprivlib(python, split(seed)).items():
            theirs.setdefault(name, []).append(score)
    best = max(theirs, key=lambda name: float(np.mean(theirs[name])))
    every = {name: float(np.mean(scores)) for name, scores in theirs.items()}
    return {"dp": theirs[best], "dp_model": best, "dp_all": every}


def of_diffprivlib(python: str, rows: Any) -> dict[str, float]:
    """Mean accuracies at the same bound on membership; features are scaled by their bounds."""
    X_train, X_test, y_train, y_test = rows
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    scaled = [np.clip((X - low) / (high - low), 0, 1) for X in (X_train, X_test)]
    worker = HERE.parents[1] / "benchmarks" / "diffprivlib_worker.py"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=scaled[0], y=y_train, X_test=scaled[1], y_test=y_test)
        task = {"data": str(path), "epsilons": [dp_epsilon(CAP)], "seeds": 5}
        ran = subprocess.run(
            [python, str(worker)],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            check=True,
        )
    names = ("logistic regression", "Gaussian NB", "random forest")
    return {name: float(np.mean(json.loads(ran.stdout)[name])) for name in names}


# What each promise covers stands in the picture: bars of equal length are not equal promises.
ROWS = (
    ("plain", "no privacy", "no promise", ""),
    (
        "private",
        "pacsklearn,\ncap of 60 %",
        "this one question",
        "average over the secret draw; this table",
    ),
    (
        "private_nats",
        "pacsklearn,\n0.020 nats",
        "every question about the rows used",
        "average over the secret draw; this table",
    ),
    (
        "dp",
        "differential\nprivacy, \u03b5 = 0.41",
        "every question, and who is in the table",
        "worst case; every table",
    ),
)


def draw(found: dict[str, Any]) -> Any:
    """Two panels: how good the model is, and what each promise covers."""
    colours = [NEUTRAL, COLOURS[0], COLOURS[2], COLOURS[1]]
    names = [name for _, name, _, _ in ROWS]
    means = [100 * np.mean(found[key]) for key, *_ in ROWS]
    spread = [100 * np.std(found[key]) for key, *_ in ROWS]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.9), layout="constrained", width_ratios=(1, 1.25)
    )
    left.barh(names, means, xerr=spread, color=colours, height=0.6, ecolor=NEUTRAL)
    for place, mean in enumerate(means):
        left.text(2, place, f"{mean:.1f} %", va="center", color="white", weight="bold")
    left.set(xlim=(0, 100), xlabel="tumours classified correctly (%)")
    left.set_title("How good is the model?", loc="left")
    right.barh(names, [0, *[100 * CAP] * 3], color=colours, height=0.6)
    for place, (key, _, covers, holds) in enumerate(ROWS):
        if key == "plain":
            right.text(2, place, covers, va="center", color=NEUTRAL)
            continue
        right.text(
            2, place, f"at most {100 * CAP:.0f} %", va="center", color="white", weight="bold"
        )
        right.text(63, place - 0.14, covers, color=NEUTRAL, fontsize="small", va="center")
        right.text(63, place + 0.14, holds, color=NEUTRAL, fontsize="small", va="center")
    right.plot([50, 50], [0.6, 3.4], color="white", linestyle="--", linewidth=1)
    right.text(50, 3.52, "50 %: a coin", color=NEUTRAL, fontsize="small", ha="center", va="center")
    right.plot(100 * found["attack"], 1, "d", color="white", markeredgecolor=NEUTRAL, markersize=8)
    right.text(
        63,
        0.58,
        "diamond: the best possible attack, measured",
        color=NEUTRAL,
        fontsize="small",
        va="center",
    )
    right.set(xlim=(0, 135), yticks=[], xticks=[0, 50, 100])
    right.set_xlabel("guesses of an adversary that are right (%)", loc="left")
    right.set_title(
        "\u201cWas this patient\u2019s record used?\u201d And what else is promised:", loc="left"
    )
    for ax in (left, right):
        ax.set_ylim(3.7, -0.6)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--dp-python")
    parser.add_argument("--png")
    options = parser.parse_args()
    kept = HERE / "first_page.json"
    found = json.loads(kept.read_text(encoding="utf-8"))
    if options.measure:
        found |= measured()
    if options.dp_python:
        found |= measured_dp(options.dp_python)
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    mpl.use("Agg")
    mpl.rcParams.update({**STYLE, "svg.fonttype": "none", "svg.hashsalt": "pacsklearn"})
    mpl.rcParams["font.family"] = "sans-serif"
    figure = draw(found)
    figure.savefig(HERE / "first_page.svg", metadata={"Date": None})
    if options.png:
        figure.savefig(options.png, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
