"""Rows a second that all candidates' models answer together, beside as many separate predicts.

    python benchmarks/bench_stacked.py --rows 3000

Processor time of one thread. Four models of each kind are fitted and each stands for 32
candidates: what a prediction costs does not depend on how alike the models are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pacsklearn.kernel.outputs.models import stack
from pacsklearn.tabular import FixedStructureForestClassifier

M, FITTED, TRAINED, P = 128, 4, 4000, 20


def estimators() -> dict[str, tuple[Any, float | None]]:
    """Each with the goal of issue L, where it has one."""
    found: dict[str, tuple[Any, float | None]] = {
        "LinearSVC": (LinearSVC(), 30),
        "RandomForest, depth 8": (RandomForestClassifier(20, max_depth=8), 5),
        "RandomForest": (RandomForestClassifier(20), 5),
        "ExtraTrees": (ExtraTreesClassifier(20), None),
        "GradientBoosting": (GradientBoostingClassifier(n_estimators=30), None),
        "FixedStructureForest": (FixedStructureForestClassifier(10), None),
        "SVC": (SVC(), 3),
    }
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return found
    return found | {"XGBoost": (XGBClassifier(n_estimators=30, max_depth=6, n_jobs=1), 10)}


def processor(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Least processor seconds, and what came out."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        seconds.append(time.process_time() - start)
    return min(seconds), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=list(estimators()), metavar="NAME")
    arguments = parser.parse_args()
    generator = np.random.default_rng(0)
    X, asked = generator.normal(size=(TRAINED, P)), generator.normal(size=(arguments.rows, P))
    y = (X @ generator.normal(size=P) + generator.normal(size=TRAINED) > 0).astype(int)
    figures, lines = Figures(), []
    with threadpool_limits(1):
        for name, (estimator, goal) in estimators().items():
            if arguments.only and name not in arguments.only:
                continue
            own = [generator.permutation(TRAINED)[: TRAINED // 2] for _ in range(FITTED)]
            models = [clone(estimator).fit(X[rows], y[rows]) for rows in own] * (M // FITTED)
            stacked = stack(tuple(models))
            assert stacked is not None, name
            stacked.predict(asked[:10])  # compiles
            ours, codes = processor(lambda s=stacked: s.predict(asked), arguments.repeats)
            apart, each = processor(
                lambda all_of=models: [m.predict(asked) for m in all_of], arguments.repeats
            )
            same = np.array_equal(models[0].classes_[codes], np.stack(each))
            lines.append(
                (
                    name,
                    f"{arguments.rows / ours:,.0f}",
                    f"{arguments.rows / apart:,.0f}",
                    f"{apart / ours:.1f}",
                    "" if goal is None else f"{goal:g}",
                    "yes" if same else "NO",
                )
            )
            if goal is not None:
                figures.at_least(f"{name}, times the rows", goal, apart / ours, "x")
    print_table(
        f"{arguments.rows:,} rows, {P} features, {M} candidates, CPU time, one thread",
        ("", "rows/s together", "rows/s apart", "ratio", "goal", "same"),
        lines,
    )
    figures.show()


if __name__ == "__main__":
    main()
