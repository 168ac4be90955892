"""Histograms against a row-by-row forest in plain Python, on Rice.

The plain one (tests/tabular/forests/row_by_row.py) is also the reference for correctness: it counts
rows one at a time for each threshold of the grid, over lists, which Python reads faster than
arrays.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from public_data import rice
from report import Figures

from pacsklearn.tabular import FixedStructureForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.tabular.forests import row_by_row

REPEATS = 50


def main() -> None:
    figures = Figures()
    data = rice()
    if data is None:
        return
    X, y = data.X, np.unique(data.y, return_inverse=True)[1]
    for step, segments in ((0.02, 100), (0.01, 200)):
        forest = FixedStructureForestClassifier(step=step, class_weight=None)
        seconds = []
        for _ in range(REPEATS):
            start = perf_counter()
            found = forest.fit(X, y).predict_proba(X)
            seconds.append(perf_counter() - start)
        rows, labels, scale = X.tolist(), y.tolist(), row_by_row.scale_of(X)
        orders = forest.features_[:, [0, 1, 3]].tolist()
        start = perf_counter()
        trees = [
            row_by_row.grow(
                rows,
                labels,
                2,
                order,
                scale,
                step=step,
                smoothing=forest.smoothing,
                penalty=forest.penalty,
                prior_count=forest.prior_count,
            )
            for order in orders
        ]
        thresholds, leaves = zip(*trees, strict=True)
        expected = [row_by_row.probabilities(row, orders, thresholds, leaves) for row in rows]
        plain = perf_counter() - start
        assert np.allclose(found, expected, atol=1e-9)
        figures.at_least(
            f"Rice, 3 trees of depth 3, grid of {segments} steps: fit and predict, times faster",
            100,
            plain / median(seconds),
            "times",
        )
        figures.note("  milliseconds", f"{1e3 * median(seconds):.2f} against {1e3 * plain:.0f}")
    figures.show()


if __name__ == "__main__":
    main()
