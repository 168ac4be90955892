"""Which tables need interactions: AUC without noise of the list that Auto chooses from.

    PACSKLEARN_DATA=... python benchmarks/bench_interactions.py [--splits 3] [--tables TABLE ...]

Of boosted trees (the better of two learning rates) and of the best of the built-in list, each
chosen in hindsight, fitted on 40 % of at most 6,000 rows and scored on the others; means over
splits, and their difference with its standard error. Of three classes or more the AUC is the mean
of each against the others.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from report import print_table  # beside this file
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from tabular_data import TABLES, Table

from pacsklearn.tabular import SchemaEncoder
from pacsklearn.tabular.choosing.families import classifier_families

ROWS, SHARE, RATES = 6000, 0.4, (0.1, 0.03)


def area(model: Any, data: list[Any]) -> float:
    """AUC on the rows that a model was not fitted on."""
    X, X_test, y, y_test = data
    proba = model.fit(X, y).predict_proba(X_test)
    shown = proba[:, 1] if proba.shape[1] == 2 else proba
    return float(roc_auc_score(y_test, shown, multi_class="ovr"))


def split_of(table: Table, seed: int) -> list[Any]:
    """Rows to fit on, rows to score, and their labels."""
    take = np.random.default_rng(seed).permutation(len(table.y))[:ROWS]
    X, y = table.X.iloc[take], table.y[take]
    data: list[Any] = train_test_split(X, y, train_size=SHARE, stratify=y, random_state=seed)
    return data


def line(table: Table, n_splits: int) -> list[str]:
    """Figures of boosted trees and of the list's best."""
    listed = classifier_families(table.schema, table.X.shape[1])
    trees = [
        make_pipeline(SchemaEncoder(table.schema), HistGradientBoostingClassifier(learning_rate=r))
        for r in RATES
    ]
    data = [split_of(table, seed) for seed in range(n_splits)]
    ours, theirs = (
        np.array([[area(model, each) for each in data] for model in models])
        for models in (listed, trees)
    )
    best, boosted = int(ours.mean(axis=1).argmax()), theirs[theirs.mean(axis=1).argmax()]
    apart = boosted - ours[best]
    error = apart.std(ddof=1) / np.sqrt(n_splits)
    figures = [f"{boosted.mean():.3f}", f"{ours[best].mean():.3f}", f"{apart.mean():+.3f}"]
    return [*figures, f"{error:.3f}", named(listed[best])]


def named(model: Any) -> str:
    """Name a listed model by what it was given beside its codebook."""
    last = model[-1] if hasattr(model, "steps") else model
    plain = type(last)().get_params()
    given = [
        f"{key}={value}"
        for key, value in last.get_params(deep=False).items()
        if value != plain[key] and key != "schema"
    ]
    return f"{type(last).__name__}({', '.join(given)})"


def main() -> None:
    """Print a line for each table of classes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--splits", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    header = ("table", "boosted trees", "best of the list", "difference", "s.e.", "it is")
    for name in asked.tables:
        table = TABLES[name]()
        if table.ends is None:
            print_table("AUC without noise", header, [[name, *line(table, asked.splits)]])


if __name__ == "__main__":
    main()
