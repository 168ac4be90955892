"""Additive classifiers by nats on bins of equal width, and on bins that are narrow near zero.

    PACSKLEARN_DATA=... python benchmarks/bench_bins.py [TABLE ...]

AUC on a quarter of 4,000 rows: means of 20 simulated releases at three budgets, and of candidates
without noise. Narrow bins are public (``bins="amounts"``). *Quantiles* are those of the rows, which
nobody may use: what edges released first could give at best. Boosted trees are fitted on all other
rows, without privacy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from bench_stepwise import BUDGETS, released  # beside this file
from report import print_table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from tabular_data import TABLES, Table

from pacsklearn import Subsets
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular import AdditiveClassifier, Column, Schema

ROWS, BINS, RELEASES = 4000, 8, 20
SHARES = np.arange(1, BINS) / BINS
PENALTIES = ((20.0, 1e3), (100.0, 1e4))


def quantiles(column: Column, values: Any) -> Column:
    """Return bins that hold equally many rows."""
    cuts = np.unique(np.quantile(np.asarray(values, dtype=float), SHARES))
    kept = tuple(float(cut) for cut in cuts if column.low < cut < column.high)
    return replace(column, edges=kept) if kept else column


def lines(table: Table) -> list[list[Any]]:
    """Figures of each kind of bins and penalty."""
    take = np.random.default_rng(0).permutation(len(table.y))[:ROWS]
    X, X_test, y, y_test = train_test_split(
        table.X.iloc[take], table.y[take], test_size=0.25, stratify=table.y[take], random_state=0
    )
    boosted = HistGradientBoostingClassifier(learning_rate=0.1).fit(X, y)
    aucs = [roc_auc_score(y_test, boosted.predict_proba(X_test)[:, 1])]
    rows: list[list[Any]] = [["boosted trees", "", "", "", "", f"{aucs[0]:.3f}"]]
    looked_up = Schema(quantiles(column, X[column.name]) for column in table.schema.columns)
    for title, schema, bins in (
        ("equal width", table.schema, "even"),
        ("narrow near zero", table.schema, "amounts"),
        ("quantiles, not private", looked_up, "even"),
    ):
        for ridge, smoothness in PENALTIES:
            model = AdditiveClassifier(
                schema, n_bins=BINS, bins=bins, ridge=ridge, smoothness=smoothness
            )
            candidates = Subsets(seed=0).design().candidates(model, X, y)
            cells = []
            for budget in BUDGETS:
                plan = ParameterPlan.of(
                    model, lambda kept=candidates: kept, Target(budget), ReleaseChoices()
                )
                auc = np.array(released(plan, X_test, y_test, RELEASES))[:, 1]
                error = auc.std(ddof=1) / np.sqrt(RELEASES)
                cells.append(f"{auc.mean():.3f} ± {error:.3f}")
            exact = [plan.outputs.decode(vector) for vector in plan.outputs.vectors[:8]]
            clean = [roc_auc_score(y_test, one.predict_proba(X_test)[:, 1]) for one in exact]
            rows.append([title, f"{ridge:g}, {smoothness:g}", *cells, f"{np.mean(clean):.3f}"])
    return rows


def main() -> None:
    """Print a table of bins for each table of rows."""
    for name in sys.argv[1:] or ("spambase", "magic"):
        header = ("bins", "ridge, smoothness", "1/64 nat", "1/16", "1/4", "no noise")
        print_table(name, header, lines(TABLES[name]()))


if __name__ == "__main__":
    main()
