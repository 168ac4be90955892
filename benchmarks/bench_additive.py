"""Released accuracy of additive models, by nats and by cap, at three equal membership bounds.

    python benchmarks/bench_additive.py [adult|breast_cancer|rice ...]

Means and standard errors of 20 simulated releases, scored on a quarter of the rows, which no
candidate saw. Hyper-parameters are the defaults everywhere; ranges and edges are written down here.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from public_data import adult_schema  # beside this file
from sklearn.datasets import load_breast_cancer

from pacsklearn.datasets import load_adult, load_rice
from pacsklearn.tabular import AdditiveClassifier, privacy_utility_curve

BUDGETS = (1 / 64, 1 / 16, 1 / 4)
# Round numbers above anything a cell or a grain can have.
CELL = [30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1]
CELL_ERROR = [3, 5, 25, 550, 0.04, 0.15, 0.4, 0.06, 0.08, 0.03]
CELL_WORST = [40, 50, 260, 4300, 0.25, 1.1, 1.3, 0.3, 0.7, 0.25]
GRAIN = ([5000, 300, 100, 50, 0.5, 5000, 0.4], [20000, 600, 300, 120, 1.0, 20000, 1.0])


def tables():
    """Model, rows and labels of each table."""
    X, y = load_adult(return_X_y=True)
    yield "adult", AdditiveClassifier(adult_schema(X)), X, np.asarray(y)
    X, y = load_breast_cancer(return_X_y=True)
    ranges = (np.zeros(30), np.array(CELL + CELL_ERROR + CELL_WORST))
    yield "breast_cancer", AdditiveClassifier(feature_range=ranges), X, y
    X, y = load_rice(return_X_y=True)
    yield "rice", AdditiveClassifier(feature_range=GRAIN), np.asarray(X, dtype=float), np.asarray(y)


def main(asked: list[str]) -> None:
    """Print a line for each table and kind of promise."""
    for name, model, X, y in tables():
        if asked and name not in asked:
            continue
        start = time.perf_counter()
        found = privacy_utility_curve(
            model,
            X,
            y,
            budgets=BUDGETS,
            noise=["logdet", "criterion"],
            n_releases=20,
            test_size=0.25,
        )
        print(
            f"{name}: on all rows {found.all_rows_score:.3f}, one half {found.noiseless_score:.3f}"
        )
        for noise in ("logdet", "criterion"):
            points = [point for point in found.points if point.noise == noise]
            cells = [
                f"{np.mean(p.scores):.3f}±{np.std(p.scores) / np.sqrt(len(p.scores)):.3f}"
                for p in points
            ]
            print(f"  {'nats' if noise == 'logdet' else 'cap':<5}", *cells)
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
