"""Fitting all candidates at once, against one scikit-learn fit a subset.

Both sides run in turn on the same rows in one process; the median of the ratios is reported, in
processor time with wall time beside it, and the largest difference of a fitted number. One BLAS
thread unless ``--threads`` says otherwise.

    python benchmarks/bench_fast_fit.py --rows 20000 --features 50 --subsets 128
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pacsklearn import PACPrivate, Subsets, config_context
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space

PROMISED = ("Ridge", "PCA", "GaussianNB")
TARGET = 3.0
LEARNED = ("coef_", "components_", "theta_", "var_", "centroids_", "mean_", "scale_")


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Processor and wall seconds, and what came out."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return time.process_time() - processor, time.perf_counter() - wall, found


def separately(estimator: Any, X: Any, y: Any, subsets: list[Any]) -> list[Any]:
    return [clone(estimator).fit(X[own], None if y is None else y[own]) for own in subsets]


def largest_difference(fast: list[Any], ordinary: list[Any]) -> float:
    """Over all subsets and attributes, relative to the attribute's largest number."""
    worst = 0.0
    for pair in zip(fast, ordinary, strict=True):
        one, other = (part.steps[-1][1] if hasattr(part, "steps") else part for part in pair)
        for name in LEARNED:
            known = getattr(other, name, None)
            size = 0.0 if known is None else float(np.max(np.abs(known)))
            if size > 1e-9:  # a mean after centring is rounding and nothing else
                change = float(np.max(np.abs(np.asarray(getattr(one, name)) - known)))
                worst = max(worst, change / size)
    return worst


def cases(arguments: argparse.Namespace) -> list[tuple[str, Any, Any, Any]]:
    generator = np.random.default_rng(0)
    n, p = arguments.rows, arguments.features
    X = generator.normal(size=(n, p)) * np.linspace(0.5, 3, p) + 3 * generator.normal(size=p)
    y = X @ generator.normal(size=p) + generator.normal(size=n)
    classes = (y > np.median(y)).astype(int)
    return [
        ("Ridge", Ridge(), X, y),
        ("PCA", PCA(5), X, None),
        ("GaussianNB", GaussianNB(), X, classes),
        ("LinearRegression", LinearRegression(), X, y),
        ("LDA", LinearDiscriminantAnalysis(), X, classes),
        ("NearestCentroid", NearestCentroid(), X, classes),
        ("StandardScaler", StandardScaler(), X, None),
        ("scaler, Ridge", make_pipeline(StandardScaler(), Ridge()), X, y),
        ("scaler, PCA, Ridge", make_pipeline(StandardScaler(), PCA(5), Ridge()), X, y),
        ("scaler, GaussianNB", make_pipeline(StandardScaler(), GaussianNB()), X, classes),
    ]


def compare(
    estimator: Any, X: Any, y: Any, space: Any, subsets: list[Any], arguments: argparse.Namespace
) -> tuple[tuple[str, ...], float, float]:
    """A row of the table, the median ratio in processor time, and the largest difference."""
    fitter = registry().subset_fitter_for(estimator)
    fitter.fit_all(estimator, X, y, space)  # imports and buffers
    quick, slow, walls, difference = [], [], [], 0.0
    for _ in range(arguments.repeats):
        one, one_wall, fast = timed(partial(fitter.fit_all, estimator, X, y, space))
        other, other_wall, ordinary = timed(partial(separately, estimator, X, y, subsets))
        quick.append(one)
        slow.append(other)
        walls.append(other_wall / one_wall)
        difference = max(difference, largest_difference(fast, ordinary))
    whole = []
    for fast_fit in (True, False):
        private = PACPrivate(estimator, secret=Subsets(arguments.subsets))
        with config_context(fast_fit=fast_fit):
            whole.append(timed(partial(private.fit, X, y))[0])
    ratio = float(np.median(np.divide(slow, quick)))
    row = (
        f"{np.median(quick):.2f} s",
        f"{np.median(slow):.2f} s",
        f"{ratio:.1f}",
        f"{np.median(walls):.1f}",
        f"{difference:.0e}",
        f"{whole[1] / whole[0]:.1f}",
    )
    return row, ratio, difference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--subsets", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    figures, rows = Figures(), []
    space = balanced_space(arguments.rows, n_subsets=arguments.subsets)
    subsets = [space.rows(i) for i in range(arguments.subsets)]
    with threadpool_limits(arguments.threads):
        for name, *job in cases(arguments):
            row, ratio, difference = compare(*job, space, subsets, arguments)
            rows.append((name, *row))
            if name in PROMISED:
                figures.at_least(f"{name}, times as fast as separate fits", TARGET, ratio, "x")
                figures.add(
                    f"{name}, largest relative difference",
                    "<= 1e-08",
                    f"{difference:.0e}",
                    difference <= 1e-8,
                )
    print_table(
        f"{arguments.rows} rows, {arguments.features} features, {arguments.subsets} subsets, "
        f"{arguments.threads} thread(s); medians of {arguments.repeats}",
        ("", "at once", "separately", "ratio", "wall", "difference", "PACPrivate.fit"),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
