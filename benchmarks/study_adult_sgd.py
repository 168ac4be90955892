"""A share hidden by private gradient descent, and by releasing one model: Adult.

Secret is which of two shares, so far apart, of a training set of 25,000 rows of Adult earn above
50,000, at a Renyi divergence of 1 (order 4); then, whatever so many of 30,000 rows decide, for
which no data sets can be listed. Gradient descent takes the best of a grid of settings, chosen by
the test rows themselves, which flatters it; the other line is SRPPPrivate with one logistic
regression as it comes.

    python benchmarks/study_adult_sgd.py
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from typing import Any

import numpy as np
from report import print_table
from sklearn.linear_model import LogisticRegression
from srpp_sgd import adult

from pacsklearn import SRPPPrivate
from pacsklearn.srpp import Clipping, DifferingRows, PrevalenceScenario, SRPPSGDClassifier

RUNS, SIZE, SHARE = 3, 25_000, 0.24
BATCHES = ((1_500, 5), (SIZE, 20), (SIZE, 60))  # rows of a batch, epochs


def descents(n_features: int) -> list[tuple[str, dict[str, Any]]]:
    """Settings by name: clipped to a ball, or to the box of the columns (a matrix cap)."""
    found: list[tuple[str, dict[str, Any]]] = []
    for (batch, epochs), eta0 in product(BATCHES, (8.0, 30.0)):
        run = {"batches": batch, "epochs": epochs}
        name = f"{batch:,} rows, {epochs} epochs, eta0 {eta0:g}"
        found.append((f"ball, {name}", run | {"learning_rate": eta0 * 2, "clipping": 0.5}))
        box = Clipping(0.5 / np.sqrt(n_features + 1), np.ones(n_features))
        found.append((f"box, {name}", run | {"clipping": box, "learning_rate": eta0}))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    study = adult()
    if study is None:
        return
    rich = np.unique(study.y)[1]
    X, y = study.X, (study.y == rich).astype(int)
    X_test, y_test = study.X_test, (study.y_test == rich).astype(int)
    clear = LogisticRegression(max_iter=1000).fit(X, y).score(X_test, y_test)
    naive = max(y_test.mean(), 1 - y_test.mean())

    def measured(model: Any, n_rows: int) -> tuple[float, float]:
        start = time.perf_counter()
        scores = [model.fit(X[:n_rows], y[:n_rows]).score(X_test, y_test) for _ in range(RUNS)]
        return float(np.mean(scores)), (time.perf_counter() - start) / RUNS

    def descent(scenario: Any, n_rows: int) -> tuple[str, ...]:
        best: dict[str, tuple[float, str]] = {}
        for name, settings in descents(X.shape[1]):
            model = SRPPSGDClassifier(budget=1.0, scenario=scenario, classes=[0, 1], **settings)
            shape, rest = name.split(", ", 1)
            best[shape] = max(best.get(shape, (0.0, "")), (measured(model, n_rows)[0], rest))
        return *(f"{best[shape][0]:.3f}" for shape in ("ball", "box")), max(best.values())[1]

    rows: list[tuple[str, ...]] = []
    for shift in (0.001, 0.003, 0.01, 0.02, 0.03):
        scenario = PrevalenceScenario(shares=(SHARE - shift, SHARE), value=1, size=SIZE, n_draws=1)
        whole = SRPPPrivate(LogisticRegression(max_iter=1000), budget=1.0, scenario=scenario)
        score, seconds = measured(whole, len(X))
        found = descent(scenario, len(X))
        rows.append((f"shares {shift:.1%} apart", f"{score:.3f}", f"{seconds:.1f} s", *found))
    for count in (1, 10, 100, 1000):
        found = descent(DifferingRows(count), 30_000)
        rows.append((f"what {count:,} rows decide", "-", "-", *found))
    print_table(
        f"Adult: {clear:.3f} without privacy, {naive:.3f} by one label",
        ("secret", "SRPPPrivate", "time", "descent, ball", "box", "best settings"),
        rows,
    )


if __name__ == "__main__":
    main()
