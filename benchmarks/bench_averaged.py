"""Probabilities as released, and averaged over the law of the noise: AUC and log loss.

    PACSKLEARN_DATA=... python benchmarks/bench_averaged.py --splits 10

One release a split of the same integers each; a table of three classes beside one of two.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tabular_data import TABLES  # beside this file

from pacsklearn import PACPrivate, Parameters, Tuned

BUDGETS = (1 / 64, 1 / 16, 1 / 4)
GRID = {"logisticregression__C": [0.001, 0.01, 0.1]}
LEAST = 1e-6
N_ROWS = 3000


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=10)
    splits = range(parser.parse_args().splits)
    warnings.simplefilter("ignore")
    for name, (X, y) in tables().items():
        for penalty in (0.01, 1.0, None):
            for budget in BUDGETS:
                both = np.array([scores(X, y, split, penalty, budget) for split in splits])
                print_row(name, penalty or "Tuned", budget, both)


def tables() -> dict[str, tuple[Any, Any]]:
    """Rows and classes; of wine a sample of a public seed."""
    wine = TABLES["white wine"]()
    rows = np.random.default_rng(0).choice(len(wine.y), N_ROWS, replace=False)
    return {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "white wine": (wine.X.to_numpy(float)[rows], wine.y[rows]),
    }


def scores(X: Any, y: Any, split: int, penalty: float | None, budget: float) -> Any:
    """AUC and log loss of a plain release and an averaged one."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=split)
    model: Any = make_pipeline(StandardScaler(), LogisticRegression(C=penalty or 1.0, max_iter=500))
    model = model if penalty else Tuned(model, GRID)
    found = []
    for average in (False, True):
        release = Parameters(average=average, certify=False)
        private = PACPrivate(model, budget=budget, release=release, random_state=split)
        proba = np.clip(private.fit(X, y).predict_proba(X_test), LEAST, None)
        proba /= proba.sum(axis=1, keepdims=True)
        ranked = proba[:, 1] if proba.shape[1] == 2 else proba
        found.append((roc_auc_score(y_test, ranked, multi_class="ovr"), log_loss(y_test, proba)))
    return found


def print_row(name: str, penalty: Any, budget: float, both: Any) -> None:
    """Print means of plain releases, and changes with their standard errors."""
    plain, change = both[:, 0].mean(axis=0), both[:, 1] - both[:, 0]
    errors = change.std(axis=0, ddof=1) / np.sqrt(len(change))
    cells = " | ".join(
        f"{mean:.3f} | {moved:+.3f} ± {error:.3f}"
        for mean, moved, error in zip(plain, change.mean(axis=0), errors, strict=True)
    )
    print(f"| {name} | {penalty} | 1/{1 / budget:.0f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
