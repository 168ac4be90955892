"""Measure and draw docs/diagrams/first_page.svg: what a promise costs, and what it is worth.

python docs/diagrams/first_page.py [--dp-python INTERPRETER] [--png FILE]

Measures when given an interpreter that has diffprivlib (``pip install diffprivlib
'scikit-learn<1.6'`` in an environment of its own), and writes what it found to first_page.json;
draws from that file otherwise.
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

from pacsklearn import Membership, PACPrivate
from pacsklearn.audit import run_audit
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.plots.palette import COLOURS, NEUTRAL, STYLE

HERE = Path(__file__).parent
CAP, SPLITS = 0.60, 10


def measured(python: str) -> dict[str, Any]:
    """Accuracy over ten splits: no privacy, ours, and the best of diffprivlib's classifiers."""
    X, y = load_breast_cancer(return_X_y=True)
    recipe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    plain, private = [], []
    theirs: dict[str, list[float]] = {}
    for seed in range(SPLITS):
        rows = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        X_train, X_test, y_train, y_test = rows
        plain.append(recipe.fit(X_train, y_train).score(X_test, y_test))
        model = PACPrivate(recipe, budget=Membership(CAP)).fit(X_train, y_train)
        private.append(model.score(X_test, y_test))
        for name, score in of_diffprivlib(python, rows).items():
            theirs.setdefault(name, []).append(score)
    audit = run_audit(model, X_train, y_train, n_trials=1000)
    attack = max(r.success for r in audit.results if r.criterion == "membership of one unit")
    best = max(theirs, key=lambda name: float(np.mean(theirs[name])))
    return {
        "cap": CAP,
        "epsilon": dp_epsilon(CAP),
        "splits": SPLITS,
        "plain": plain,
        "private": private,
        "dp": theirs[best],
        "dp_model": best,
        "dp_all": {name: float(np.mean(scores)) for name, scores in theirs.items()},
        "attack": attack,
    }


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


def draw(found: dict[str, Any]) -> Any:
    """Two panels: how good the model is, and how good an attacker is."""
    names = ["no privacy", "pacsklearn", "differential\nprivacy"]
    colours = [NEUTRAL, COLOURS[0], COLOURS[1]]
    means = [100 * np.mean(found[name]) for name in ("plain", "private", "dp")]
    spread = [100 * np.std(found[name]) for name in ("plain", "private", "dp")]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.1), layout="constrained")
    left.barh(names, means, xerr=spread, color=colours, height=0.6, ecolor=NEUTRAL)
    for place, mean in enumerate(means):
        left.text(2, place, f"{mean:.1f} %", va="center", color="white", weight="bold")
    left.set(xlim=(0, 100), xlabel="tumours classified correctly (%)")
    left.set_title("How good is the model?", loc="left")
    right.barh(names, [100, 100 * CAP, 100 * CAP], color=colours, height=0.6)
    promised = ["no limit", f"at most {100 * CAP:.0f} %", f"at most {100 * CAP:.0f} %"]
    for place, text in enumerate(promised):
        right.text(2, place, text, va="center", color="white", weight="bold")
    right.axvline(50, color=NEUTRAL, linestyle="--", linewidth=1)
    right.text(51, -0.62, "tossing a coin", color=NEUTRAL, fontsize="small", va="center")
    right.plot(100 * found["attack"], 1, "d", color="white", markeredgecolor=NEUTRAL, markersize=9)
    right.text(62, 1, "diamond: best of our attacks", color=NEUTRAL, fontsize="small", va="center")
    right.set(xlim=(0, 100), yticks=[], xlabel="success of an attacker (%)")
    right.set_title("Can anyone tell whose records were used?", loc="left")
    for ax in (left, right):
        ax.invert_yaxis()
        ax.set_ylim(2.5, -0.8)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dp-python")
    parser.add_argument("--png")
    options = parser.parse_args()
    kept = HERE / "first_page.json"
    if options.dp_python:
        kept.write_text(json.dumps(measured(options.dp_python), indent=1) + "\n", encoding="utf-8")
    mpl.use("Agg")
    mpl.rcParams.update({**STYLE, "svg.fonttype": "none", "svg.hashsalt": "pacsklearn"})
    mpl.rcParams["font.family"] = "sans-serif"
    figure = draw(json.loads(kept.read_text(encoding="utf-8")))
    figure.savefig(HERE / "first_page.svg", metadata={"Date": None})
    if options.png:
        figure.savefig(options.png, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
