"""A private fit, in plain fits: processor time of both sides in turn in one run, one thread.

Beside each figure stands its floor, in plain fits too: the products of all memberships with the
table that the fit cannot do without. One product is ``memberships.T @ table``, as fast as BLAS
takes it here. Moments need one of a table with a column for every number that is summed (of
products of features a quarter: rows that the same ones of eight candidates hold are multiplied
once), a sweep of an iterative fit two (decisions of all candidates, and their gradients), one of a
mixture two for each component and column. "sweeps" is how many of them the floor counts: as many as
the solver took on average, those in single precision as a half. It is no proof that no other method
needs fewer. Above the floor stand the draw of memberships, encoding, the metric, the warning of a
poor release, the noise and the guarantee's statements, which cost about as much whatever the model,
and the losses' own arithmetic between the products. Trees, K-Means and whatever is fitted one after
the other have no such floor; for those the cost of the candidates' own fits is shown. Goals are for
the default call, which certifies what it states; "uncertified" leaves that out, as `certify=False`
does, and "over floor" compares it with the floor.

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

from pacsklearn import PACPrivate, Subsets
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier


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
    features : int or None
        Of the table's columns only so many.
    """

    estimator: Any
    target: str
    goal: float | None = None
    products: Callable[[int, float], float] | None = None
    features: int | None = None


def per_sweep(outputs: int = 1) -> Callable[[int, float], float]:
    return lambda p, sweeps: 2 * outputs * (p + 1) * sweeps


def second_moments(p: int, _: float) -> float:
    """Sums of products of features; symmetric, and taken in buckets at two eighths of the cost."""
    return (p + 1) * (p + 2) / 2 / 4


def mixture(kind: str) -> GaussianMixture:
    return GaussianMixture(3, covariance_type=kind, random_state=0, max_iter=500)


CASES = {
    "LogisticRegression": Case(LogisticRegression(max_iter=1000), "classes", 20, per_sweep()),
    "scaler, LogisticRegression": Case(
        make_pipeline(StandardScaler(), LogisticRegression()), "classes", 23, per_sweep()
    ),
    "LogisticRegression, 4 classes": Case(
        LogisticRegression(max_iter=1000), "many classes", None, per_sweep(4)
    ),
    "LinearSVC": Case(LinearSVC(), "classes", 12, per_sweep()),
    "LinearSVR": Case(
        LinearSVR(loss="squared_epsilon_insensitive", dual=False), "numbers", None, per_sweep()
    ),
    "Ridge": Case(Ridge(), "numbers", 28, second_moments),
    "RidgeClassifier": Case(RidgeClassifier(), "classes", None, second_moments),
    "LDA": Case(LinearDiscriminantAnalysis(), "classes", 25, second_moments),
    "GaussianNB": Case(GaussianNB(), "classes", 16, lambda p, _: 2 * p),
    "PCA": Case(PCA(5), "none", 60, second_moments),
    "Lasso": Case(Lasso(0.1), "numbers", 28, second_moments),
    "ElasticNet": Case(ElasticNet(0.1), "numbers", None, second_moments),
    "PoissonRegressor": Case(PoissonRegressor(max_iter=1000), "counts", None, per_sweep()),
    "HuberRegressor": Case(HuberRegressor(max_iter=1000), "numbers", None, per_sweep()),
    "KMeans": Case(KMeans(5, n_init=1), "none", 46, None),
    "GaussianMixture, diagonal": Case(
        mixture("diag"), "none", 40, lambda p, sweeps: 2 * 3 * (2 * p + 1) * sweeps
    ),
    "GaussianMixture, tied": Case(
        mixture("tied"), "none", 40, lambda p, sweeps: 2 * 3 * (p + 1) * sweeps
    ),
    "GaussianMixture, full, 10 features": Case(
        mixture("full"),
        "none",
        40,
        lambda p, sweeps: 3 * (p + 1) * (p + 2) * sweeps,
        features=10,
    ),
    "GaussianMixture, full": Case(mixture("full"), "none", 40),
    "FixedStructureForest": Case(FixedStructureForestClassifier(), "classes", 12),
    "RandomForest": Case(RandomForestClassifier(20, max_depth=8), "classes", 50),
    "HistGradientBoosting": Case(HistGradientBoostingClassifier(max_iter=20), "classes", 45),
}
_SOME, _MANY = 50_000, 200_000
SLOW = {"RandomForest", "HistGradientBoosting", "XGBoost", "GaussianMixture, full"}
try:
    from xgboost import XGBClassifier
except ImportError:
    pass
else:
    CASES["XGBoost"] = Case(XGBClassifier(n_estimators=20, n_jobs=1), "classes", 45)


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


def processor(work: Callable[[], Any], repeats: int) -> float:
    """Median processor seconds."""
    return float(np.median([once(work) for _ in range(repeats)]))


def once(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def sweeps_of(case: Case, X: Any, y: Any, subsets: int) -> float | None:
    """Average sweeps of the candidates' joint fit of the first rows; None where there is none."""
    X, y = X[:_SOME], None if y is None else y[:_SOME]
    space = balanced_space(len(X), n_subsets=subsets)
    fitter = registry().subset_fitter_for(case.estimator)
    models = [] if fitter is None else fitter.fit_all(case.estimator, X, y, space)
    lasts = [one.steps[-1][1] if hasattr(one, "steps") else one for one in models if one]
    found = [np.max(getattr(last, "n_iter_", None) or 1) for last in lasts]
    return float(np.mean(found)) if found else None


def product_seconds(X: Any, space: SecretSpace, repeats: int) -> float:
    """Processor seconds of ``memberships.T @ table``, a column of the table."""
    rows = min(len(X), _SOME)
    members = space.membership(slice(0, rows)).astype(np.float64)
    table = np.ascontiguousarray(X[:rows])
    seconds = processor(lambda: members.T @ table, 2 * repeats + 1)
    return seconds / X.shape[1] * len(X) / rows


def own_fits(case: Case, X: Any, y: Any, space: SecretSpace) -> float:
    """Seconds that the candidates' own fits take, from those of three, or of one large one."""
    own = [space.rows(index) for index in range(3 if len(X) < _MANY else 1)]
    parts = [(X[rows], None if y is None else y[rows]) for rows in own]
    seconds = once(lambda: [clone(case.estimator).fit(*part) for part in parts])
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
    table = generator.normal(size=(arguments.n, p)) * np.linspace(0.5, 3, p)
    table += 3 * generator.normal(size=p)
    all_targets = targets(table, generator)
    space = balanced_space(arguments.n, n_subsets=arguments.subsets)
    figures, rows = Figures(), []
    names = arguments.only or [n for n in CASES if arguments.slow or n not in SLOW]
    with threadpool_limits(1):
        PACPrivate(Ridge(), secret=Subsets(4)).fit(
            table[:200], all_targets["numbers"][:200]
        )  # OpenDP
        for name in names:
            case = CASES[name]
            X, y = np.ascontiguousarray(table[:, : case.features]), all_targets[case.target]
            private = PACPrivate(clone(case.estimator), secret=Subsets(arguments.subsets))
            for _ in range(2):  # imports, and code that is compiled once it is worth it
                private.fit(X, y)
            product = product_seconds(X, space, arguments.repeats)
            plains, wholes, certificates = [], [], []
            for _ in range(arguments.repeats):
                plains += [once(partial(clone(case.estimator).fit, X, y)) for _ in range(2)]
                wholes.append(once(partial(private.fit, X, y)))
                certificates.append(private.fit_report_.processor.get("certificate", 0.0))
            plain, whole = float(np.median(plains)), float(np.median(wholes))
            sweeps = None if case.products is None else sweeps_of(case, X, y, arguments.subsets)
            floor = None
            if case.products is not None and sweeps is not None:
                floor = case.products(X.shape[1], sweeps) * product
            ratio, stated = whole / plain, float(np.median(certificates))
            rows.append(
                (
                    name,
                    f"{1000 * plain:.1f}",
                    f"{1000 * whole:.0f}",
                    f"{ratio:.1f}",
                    f"{(whole - stated) / plain:.1f}",
                    "" if case.goal is None else f"{case.goal:g}",
                    "" if sweeps is None else f"{sweeps:.1f}",
                    "" if floor is None else f"{floor / plain:.1f}",
                    "" if floor is None else f"{(whole - stated) / floor:.2f}",
                    f"{own_fits(case, X, y, space) / plain:.1f}",
                )
            )
            print(f"  {name}: {ratio:.1f}", flush=True)
            if case.goal is not None:
                figures.at_most(f"{name}, plain fits", case.goal, ratio)
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
            "sweeps",
            "floor",
            "over floor",
            "one by one",
        ),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
