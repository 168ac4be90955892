"""Joint fits of all candidates against fits one by one, over a grid of shapes.

The joint side is what a release pays: candidates that the joint fit leaves are fitted one by one,
at the estimator's own tolerance, and counted. The other side is scikit-learn's solver on a few
candidates, times as many as there are, at the same tolerance: that of ``TIGHT`` for those that are
solved jointly (decisions right to 1e-10), the estimator's own for those that are not. Beside it,
all of them at the estimator's own. Processor time of both sides in one process, least of several.

    python benchmarks/bench_joint_grid.py --only Ridge PCA --rows 100 1000 --features 5 500
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
from sklearn.base import clone, is_classifier
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
from threadpoolctl import threadpool_limits

from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space

GOAL = 1.1
ESTIMATORS: dict[str, Any] = {
    "LogisticRegression": LogisticRegression(),
    "scaler, LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    "LinearSVC": LinearSVC(random_state=0),
    "RidgeClassifier": RidgeClassifier(),
    "LDA": LinearDiscriminantAnalysis(),
    "LDA, shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    "GaussianNB": GaussianNB(),
    "NearestCentroid": NearestCentroid(),
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(),
    "Lasso": Lasso(alpha=0.1),
    "ElasticNet": ElasticNet(alpha=0.1),
    "Huber": HuberRegressor(),
    "Poisson": PoissonRegressor(),
    "LinearSVR": LinearSVR(loss="squared_epsilon_insensitive", random_state=0),
    "PCA": PCA(2),
    "KMeans": KMeans(4, random_state=0),
    "GaussianMixture": GaussianMixture(4, random_state=0),
    "StandardScaler": StandardScaler(),
}
# Of those that stop at a tolerance: one as near the minimum as a joint fit is.
TIGHT: dict[str, Any] = {
    "LogisticRegression": LogisticRegression(tol=1e-9, max_iter=100_000),
    "scaler, LogisticRegression": make_pipeline(
        StandardScaler(), LogisticRegression(tol=1e-9, max_iter=100_000)
    ),
    "LinearSVC": LinearSVC(random_state=0, tol=1e-9, max_iter=100_000),
    "Lasso": Lasso(alpha=0.1, tol=1e-10, max_iter=100_000),
    "ElasticNet": ElasticNet(alpha=0.1, tol=1e-10, max_iter=100_000),
    "Huber": HuberRegressor(tol=1e-9, max_iter=100_000),
    "Poisson": PoissonRegressor(tol=1e-9, max_iter=100_000),
    "LinearSVR": LinearSVR(
        loss="squared_epsilon_insensitive", random_state=0, tol=1e-9, max_iter=100_000
    ),
}
KINDS = ("noisy", "separable")
UNSUPERVISED = ("PCA", "KMeans", "GaussianMixture", "StandardScaler")
# Seconds that fits one by one may take before no more candidates are fitted.
ENOUGH = 0.3
Fit = Callable[[], Any]


def table(name: str, n: int, d: int, classes: int, *, separable: bool) -> tuple[Any, Any]:
    """Rows, and what the estimator is fitted to, with noise or without.

    The largest of as many linear functions, or the first of them as a number (of a Poisson model
    its exponential). Without targets the rows themselves are what is separable: four clusters.
    """
    generator, estimator = np.random.default_rng([n, d, classes]), ESTIMATORS[name]
    X = generator.normal(size=(n, d))
    decisions = X @ generator.normal(size=(d, classes)) / np.sqrt(d)
    noise = 0.0 if separable else 1.0
    decisions += noise * generator.normal(size=decisions.shape)
    if name in UNSUPERVISED and separable:
        X += 4 * generator.normal(size=(4, d))[generator.integers(4, size=n)]
    if is_classifier(estimator):
        return X, np.argmax(decisions, axis=1)
    return X, np.exp(decisions[:, 0]) if name == "Poisson" else decisions[:, 0]


def least(works: dict[str, Fit], repeats: int) -> dict[str, float]:
    """Least processor seconds of each, in turn."""
    seconds = dict.fromkeys(works, np.inf)
    for _, (name, work) in itertools.product(range(repeats), works.items()):
        start = time.process_time()
        work()
        seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


def together(estimator: Any, X: Any, y: Any, space: SecretSpace) -> int:
    """Fit all candidates, and return how many were left to ordinary fits."""
    models = registry().subset_fitter_for(estimator).fit_all(estimator, X, y, space)
    left = [i for i, model in enumerate(models) if model is None]
    alone(estimator, X, y, space, left)
    return len(left)


def alone(estimator: Any, X: Any, y: Any, space: SecretSpace, chosen: list[int]) -> None:
    for i in chosen:
        rows = space.rows(i)
        clone(estimator).fit(X[rows], y[rows])


def how_many(fit: Callable[[list[int]], Any], least_fits: int, m: int) -> int:
    """Return how many fits one by one are timed: more where one is soon done."""
    start = time.process_time()
    fit([0])
    return int(np.clip(ENOUGH / max(time.process_time() - start, 1e-4), least_fits, m))


def cell(
    name: str, X: Any, y: Any, space: SecretSpace, fitted: int, repeats: int
) -> tuple[dict[str, float], int]:
    """Return seconds of all candidates on each side, and how many the joint fit left."""
    estimator, m = ESTIMATORS[name], space.n_subsets
    left = together(estimator, X, y, space)  # imports and compiled code too
    works: dict[str, Fit] = {"joint": partial(together, estimator, X, y, space)}
    counts = {}
    sides = {"default": estimator}
    if name in TIGHT and left < m:
        sides["tight"] = TIGHT[name]
    for side, model in sides.items():
        fit = partial(alone, model, X, y, space)
        counts[side] = how_many(fit, fitted, m)
        works[side] = partial(fit, list(range(counts[side])))
    seconds = least(works, repeats)
    for side, count in counts.items():
        seconds[side] *= m / count
    share = left / m
    tight = seconds.get("tight", seconds["default"])
    seconds["same"] = share * seconds["default"] + (1 - share) * tight
    return seconds, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(ESTIMATORS), metavar="NAME")
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 5000, 20_000])
    parser.add_argument("--features", type=int, nargs="+", default=[5, 50, 500, 2000])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 5, 26])
    parser.add_argument("--targets", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--largest", type=int, default=1_000_000, help="rows times features")
    parser.add_argument("--subsets", type=int, default=128)
    parser.add_argument("--fitted", type=int, default=2, help="candidates fitted one by one")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that stop at max_iter are what they cost
    shapes = itertools.product(
        arguments.rows, arguments.features, arguments.classes, arguments.targets
    )
    rows, figures, m = [], Figures(), arguments.subsets
    names = arguments.only or list(ESTIMATORS)
    with threadpool_limits(1):
        for (n, d, classes, kind), name in itertools.product(shapes, names):
            is_counted = is_classifier(ESTIMATORS[name]) or classes == arguments.classes[0]
            if n * d > arguments.largest or not is_counted:
                continue
            X, y = table(name, n, d, classes, separable=kind == "separable")
            space = balanced_space(n, n_subsets=m)
            seconds, left = cell(name, X, y, space, arguments.fitted, arguments.repeats)
            ratios = [seconds["joint"] / seconds[side] for side in ("same", "default")]
            label = f"{name}, {n} x {d}, {classes} classes, {kind}"
            shown = (f"{seconds['joint']:.3f} s", *(f"{ratio:.2f}" for ratio in ratios))
            rows.append((ratios[0], (label, *shown, left)))
            figures.at_most(label, GOAL, ratios[0])
            print(f"  {label}: {' '.join(shown)}, {left} left", flush=True)
    rows.sort(key=lambda row: -row[0])
    print_table(
        f"{m} candidates; joint fit in fits one by one, CPU time, one thread, "
        f"least of {arguments.repeats}; the worst first",
        ("", "joint", "same tolerance", "default tolerance", "left to ordinary fits"),
        [row for _, row in rows],
    )
    figures.show()


if __name__ == "__main__":
    main()
