"""Joint fits of all candidates against fits one by one, over a grid of shapes.

The joint side is what a release pays: candidates that the joint fit leaves are fitted one by one,
at the estimator's own tolerance, and counted. The other side is scikit-learn's solver on a few
candidates, times as many as there are, at the same tolerance: 1e-9 for those that are solved
jointly (decisions right to 1e-10), the estimator's own for those that are not. Beside it, all of
them at the estimator's own. Processor time of both sides in one process, the least of several.

    python benchmarks/bench_joint_grid.py --rows 100 1000 --features 5 500 --classes 2
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space

GOAL = 1.1
TIGHT = LogisticRegression(tol=1e-9, max_iter=100_000)
Fit = Callable[[], Any]


def table(n: int, d: int, classes: int, *, separable: bool) -> tuple[Any, Any]:
    """Rows and labels by the largest of as many linear functions, with noise or without."""
    generator = np.random.default_rng([n, d, classes])
    X = generator.normal(size=(n, d))
    decisions = X @ generator.normal(size=(d, classes)) / np.sqrt(d)
    noise = 0.0 if separable else 1.0
    y = np.argmax(decisions + noise * generator.normal(size=decisions.shape), axis=1)
    return X, y


def least(works: dict[str, Fit], repeats: int) -> dict[str, float]:
    """Least processor seconds of each, in turn."""
    seconds = dict.fromkeys(works, np.inf)
    for _, (name, work) in itertools.product(range(repeats), works.items()):
        start = time.process_time()
        work()
        seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


def together(X: Any, y: Any, space: SecretSpace) -> int:
    """Fit all candidates, and return how many were left to ordinary fits."""
    estimator = LogisticRegression()
    models = registry().subset_fitter_for(estimator).fit_all(estimator, X, y, space)
    left = [i for i, model in enumerate(models) if model is None]
    alone(estimator, X, y, space, left)
    return len(left)


def alone(estimator: Any, X: Any, y: Any, space: SecretSpace, chosen: list[int]) -> None:
    for i in chosen:
        rows = space.rows(i)
        clone(estimator).fit(X[rows], y[rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 5000, 20_000])
    parser.add_argument("--features", type=int, nargs="+", default=[5, 50, 500, 2000])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 5, 26])
    parser.add_argument("--largest", type=int, default=1_000_000, help="rows times features")
    parser.add_argument("--subsets", type=int, default=128)
    parser.add_argument("--fitted", type=int, default=4, help="candidates fitted one by one")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that stop at max_iter are what they cost
    shapes = itertools.product(arguments.rows, arguments.features, arguments.classes, (False, True))
    rows, figures, m = [], Figures(), arguments.subsets
    with threadpool_limits(1):
        for n, d, classes, separable in shapes:
            if n * d > arguments.largest:
                continue
            X, y = table(n, d, classes, separable=separable)
            space = balanced_space(n, n_subsets=m)
            chosen = list(range(arguments.fitted))
            left = together(X, y, space)  # imports and compiled code too
            seconds = least(
                {
                    "joint": partial(together, X, y, space),
                    "default": partial(alone, LogisticRegression(), X, y, space, chosen),
                    "tight": partial(alone, TIGHT, X, y, space, chosen if left < m else []),
                },
                arguments.repeats,
            )
            solved, own = m - left, seconds["default"] / arguments.fitted
            same = solved * seconds["tight"] / arguments.fitted + left * own
            ratios = seconds["joint"] / same, seconds["joint"] / (m * own)
            kind = "separable" if separable else "noisy"
            name = f"{n} x {d}, {classes} classes, {kind}"
            shown = (f"{seconds['joint']:.2f} s", *(f"{ratio:.2f}" for ratio in ratios))
            rows.append((ratios[0], (name, *shown, left)))
            figures.at_most(name, GOAL, ratios[0])
            print(f"  {name}: {ratios[0]:.2f}", flush=True)
    rows.sort(key=lambda row: -row[0])
    print_table(
        f"LogisticRegression, {m} candidates; joint fit in fits one by one, CPU "
        f"time, one thread, least of {arguments.repeats}; the worst first",
        ("", "joint", "same tolerance", "default tolerance", "left to ordinary fits"),
        [row for _, row in rows],
    )
    figures.show()


if __name__ == "__main__":
    main()
