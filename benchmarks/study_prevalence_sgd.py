"""From how many rows and which shift on a share can be hidden by private gradient descent.

A training set of n rows is drawn from a table of Gaussian rows (10 columns, logistic labels); the
secret is its share of one label, p or p + shift. About n * shift rows differ. For each n and shift:
the accuracy with the share hidden at Renyi divergence 1 of order 4, and without noise.

    python benchmarks/study_prevalence_sgd.py
"""

from __future__ import annotations

import warnings

import numpy as np
from report import print_table

from pacsklearn import DifferingRows, SRPPSGDClassifier

RUNS = 3


def table(n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = generator.normal(size=(n, 10))
    scores = X @ np.linspace(1.0, 0.1, 10)
    return X, (scores + 0.5 * generator.logistic(size=n) > 0).astype(int)


def main() -> None:
    warnings.simplefilter("ignore")
    generator = np.random.default_rng(0)
    X_test, y_test = table(20_000, generator)
    rows = []
    for n in (1_000, 10_000, 100_000):
        X, y = table(n, generator)
        for shift in (0.001, 0.003, 0.01, 0.03, 0.1):
            count = max(1, round(n * shift))
            cells = []
            for noise in ({"epsilon": 1.0}, {"noise_multiplier": 0.0}):
                model = SRPPSGDClassifier(
                    scenario=DifferingRows(count),
                    batch_size=max(n // 20, 50),
                    max_iter=2,
                    eta0=2.0,
                    classes=[0, 1],
                    **noise,
                )
                found = [model.fit(X, y).score(X_test, y_test) for _ in range(RUNS)]
                cells.append(f"{100 * np.mean(found):.1f}")
            rows.append((f"{n:,}", f"{shift:g}", f"{count:,}", *cells))
    print_table(
        "hidden share of a label, Renyi divergence 1 of order 4, 2 epochs of 20 batches",
        ("rows", "shift", "differing rows", "accuracy", "without noise"),
        rows,
    )


if __name__ == "__main__":
    main()
