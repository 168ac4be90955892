"""A private fit, in plain fits: processor time of both sides in one run, one thread.

Beside each figure stands its floor, in plain fits too: the products of all memberships with the
table that the fit cannot do without. One product is ``memberships.T @ table``; moments need one of
a table with a column for every number that is summed, a sweep of an iterative fit needs two
(decisions of all candidates, and their gradients), one of a mixture two for each component. Trees,
K-Means and whatever is fitted one after the other have no such floor; for those the cost of the
candidates' own fits is shown. The certified figure of a guarantee costs the same whatever the
model; "uncertified" leaves it out, as `certify=False` does: the figures are about that, and "over
floor" compares it with the floor.

    python benchmarks/bench_price.py --n 20000 --only LogisticRegression Ridge
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
from threadpoolctl import threadpool_limits

from pacsklearn import FixedStructureForestClassifier, PACPrivate, SecretSpace
from pacsklearn.plugin import registry


@dataclass(frozen=True)
class Case:
    """One line of the table.

    Parameters
    ----------
    estimator : estimator
    target : str
        "numbers", "counts", "classes", "many classes" or "none".
    goal : float or None
        Plain fits a private fit may cost.
    products : callable
        ``(p, sweeps) -> columns`` of the table multiplied by the memberships, all products taken
        together; None where no product is a floor.
    """

    estimator: Any
    target: str
    goal: float | None = None
    products: Callable[[int, int], float] | None = None


def per_sweep(outputs: int = 1) -> Callable[[int, int], float]:
    return lambda p, sweeps: 2 * outputs * (p + 1) * sweeps


def second_moments(p: int, _: int) -> float:
    """Sums of products of features; symmetric, and taken in buckets at two eighths of the cost."""
    return (p + 1) * (p + 2) / 2 / 4


CASES = {
    "LogisticRegression": Case(LogisticRegression(max_iter=1000), "classes", 20, per_sweep()),
    "scaler, LogisticRegression": Case(
        make_pipeline(StandardScaler(), LogisticRegression()), "classes", 20, per_sweep()
    ),
    "LogisticRegression, 4 classes": Case(
        LogisticRegression(max_iter=1000), "many classes", None, per_sweep(4)
    ),
    "LinearSVC": Case(LinearSVC(), "classes", 12, per_sweep()),
    "LinearSVR": Case(
        LinearSVR(loss="squared_epsilon_insensitive", dual=False), "numbers", None, per_sweep()
    ),
    "Ridge": Case(Ridge(), "numbers", 20, second_moments),
    "RidgeClassifier": Case(RidgeClassifier(), "classes", None, second_moments),
    "LDA": Case(LinearDiscriminantAnalysis(), "classes", 25, second_moments),
    "GaussianNB": Case(GaussianNB(), "classes", 12, lambda p, _: 4 * p),
    "PCA": Case(PCA(5), "none", 60, second_moments),
    "Lasso": Case(Lasso(0.1), "numbers", 25, second_moments),
    "ElasticNet": Case(ElasticNet(0.1), "numbers", None, second_moments),
    "PoissonRegressor": Case(PoissonRegressor(max_iter=1000), "counts", None, per_sweep()),
    "HuberRegressor": Case(HuberRegressor(max_iter=1000), "numbers", None, per_sweep()),
    "KMeans": Case(KMeans(5, n_init=1), "none", 25, None),
    "GaussianMixture": Case(
        GaussianMixture(3, covariance_type="diag", random_state=0, max_iter=500),
        "none",
        40,
        lambda p, sweeps: 2 * 3 * (2 * p + 1) * sweeps,
    ),
    "FixedStructureForest": Case(FixedStructureForestClassifier(), "classes", 12),
    "RandomForest": Case(RandomForestClassifier(20, max_depth=8), "classes", 50),
    "HistGradientBoosting": Case(HistGradientBoostingClassifier(max_iter=20), "classes", 45),
}
SLOW = {"RandomForest", "HistGradientBoosting"}


def targets(X: Any, generator: np.random.Generator) -> dict[str, Any]:
    decision = (X - X.mean(axis=0)) @ generator.normal(size=X.shape[1])
    decision /= decision.std()
    noisy = decision + 0.5 * generator.normal(size=len(X))
    return {
        "numbers": 3 * noisy,
        "counts": generator.poisson(np.exp(0.5 * decision)).astype(float),
        "classes": (noisy > 0).astype(int),
        "many classes": np.digitize(noisy, [-0.7, 0.0, 0.7]),
        "none": None,
    }


def processor(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median processor seconds, and what came out."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), found


def floor_of(case: Case, X: Any, y: Any, space: SecretSpace, product: float) -> float | None:
    """Seconds of the products a fit needs; ``product`` is the time of one, a column."""
    if case.products is None:
        return None
    fitter = registry().subset_fitter_for(case.estimator)
    if fitter is None:
        return None
    model = fitter.fit_all(case.estimator, X, y, space)[0]
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    sweeps = int(np.max(getattr(last, "n_iter_", None) or 1)) if last is not None else 1
    return case.products(X.shape[1], sweeps) * product


def product_seconds(X: Any, space: SecretSpace, repeats: int) -> float:
    """Processor seconds of ``memberships.T @ table``, a column of the table."""
    rows = min(len(X), 50_000)
    members = space.membership(slice(0, rows)).astype(np.float64)
    table = np.ascontiguousarray(X[:rows])
    seconds, _ = processor(lambda: members.T @ table, 2 * repeats + 1)
    return seconds / X.shape[1] * len(X) / rows


def own_fits(case: Case, X: Any, y: Any, space: SecretSpace) -> float:
    """Seconds that the candidates' own fits take, from those of three."""
    own = [space.rows(index) for index in range(3)]
    parts = [(X[rows], None if y is None else y[rows]) for rows in own]
    seconds, _ = processor(lambda: [clone(case.estimator).fit(*part) for part in parts], 1)
    return seconds / len(own) * space.n_subsets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--subsets", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="NAME")
    parser.add_argument("--slow", action="store_true", help="also what takes minutes")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # unsupervised releases are not scored, max_iter is meant
    generator = np.random.default_rng(0)
    p = arguments.features
    X = generator.normal(size=(arguments.n, p)) * np.linspace(0.5, 3, p)
    X += 3 * generator.normal(size=p)
    all_targets = targets(X, generator)
    space = SecretSpace.balanced(arguments.n, n_subsets=arguments.subsets)
    figures, rows = Figures(), []
    names = arguments.only or [n for n in CASES if arguments.slow or n not in SLOW]
    with threadpool_limits(1):
        PACPrivate(Ridge(), n_subsets=4).fit(X[:200], all_targets["numbers"][:200])  # loads OpenDP
        for name in names:
            case = CASES[name]
            y = all_targets[case.target]
            private = PACPrivate(clone(case.estimator), n_subsets=arguments.subsets)
            few = X[:2000], None if y is None else y[:2000]
            warm = PACPrivate(clone(case.estimator), n_subsets=arguments.subsets)
            warm.fit(*few)  # imports, compiled code
            product = product_seconds(X, space, arguments.repeats)
            plain, _ = processor(
                partial(clone(case.estimator).fit, X, y), 2 * arguments.repeats + 1
            )
            whole, _ = processor(partial(private.fit, X, y), arguments.repeats)
            floor = floor_of(case, X, y, space, product)
            ratio, stated = whole / plain, private.fit_report_.processor.get("certificate", 0.0)
            rows.append(
                (
                    name,
                    f"{1000 * plain:.1f}",
                    f"{1000 * whole:.0f}",
                    f"{ratio:.1f}",
                    f"{(whole - stated) / plain:.1f}",
                    "" if case.goal is None else f"{case.goal:g}",
                    "" if floor is None else f"{floor / plain:.1f}",
                    "" if floor is None else f"{(whole - stated) / floor:.2f}",
                    f"{own_fits(case, X, y, space) / plain:.1f}",
                )
            )
            print(f"  {name}: {ratio:.1f}", flush=True)
            if case.goal is not None:
                figures.at_most(f"{name}, plain fits", case.goal, (whole - stated) / plain)
            if floor is not None:
                figures.at_most(f"{name}, over its floor", 1.5, (whole - stated) / floor)
    print_table(
        f"{arguments.n:,} rows, {p} features, {arguments.subsets} candidates, CPU time, one "
        f"thread; medians of {arguments.repeats}",
        (
            "",
            "plain ms",
            "private ms",
            "ratio",
            "uncertified",
            "goal",
            "floor",
            "over floor",
            "one by one",
        ),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
