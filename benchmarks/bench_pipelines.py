"""What a pipeline loses to the noise, beside the same model behind a bare scaler.

Breast cancer, ``LogisticRegression(C=0.01)``, accuracy on all rows; plain, then of releases
simulated over the candidates of several public seeds, with the standard error of their mean.

    python benchmarks/bench_pipelines.py [--releases 40] [--seeds 3] [--budget 0.25] [NAME ...]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import KBinsDiscretizer, QuantileTransformer, StandardScaler

from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular.choosing.simulated_releases import HeldOut, SimulatedReleases
from pacsklearn.universe.design import Design

MISSING = 0.1


def model() -> LogisticRegression:
    """The model of all pipelines."""
    return LogisticRegression(C=0.01)


def pipelines() -> dict[str, tuple[Callable[[], Any], bool]]:
    """Pipelines by name, and whether their table has gaps."""
    every = list(range(30))
    cleaned = make_pipeline(SimpleImputer(), StandardScaler())
    grid = {"C": [0.003, 0.01, 0.03]}
    return {
        "scaler": (lambda: make_pipeline(StandardScaler(), model()), False),
        "imputer, scaler": (lambda: make_pipeline(cleaned, model()), False),
        "imputer, scaler, gaps": (lambda: make_pipeline(cleaned, model()), True),
        "scaler, imputer, gaps": (
            lambda: make_pipeline(StandardScaler(), SimpleImputer(), model()),
            True,
        ),
        "columns": (
            lambda: make_pipeline(ColumnTransformer([("a", StandardScaler(), every)]), model()),
            False,
        ),
        "columns, imputer, gaps": (
            lambda: make_pipeline(ColumnTransformer([("a", cleaned, every)]), model()),
            True,
        ),
        "union of scaler and PCA": (
            lambda: make_pipeline(make_union(StandardScaler(), PCA(5)), model()),
            False,
        ),
        "search last": (
            lambda: make_pipeline(StandardScaler(), GridSearchCV(model(), grid, cv=3)),
            False,
        ),
        "one-vs-rest last": (
            lambda: make_pipeline(StandardScaler(), OneVsRestClassifier(model())),
            False,
        ),
        "stacking last": (
            lambda: make_pipeline(
                StandardScaler(),
                StackingClassifier(
                    [("logistic", model()), ("bayes", GaussianNB())], LogisticRegression()
                ),
            ),
            False,
        ),
        "quantiles": (lambda: make_pipeline(QuantileTransformer(n_quantiles=10), model()), False),
        "bins": (lambda: make_pipeline(KBinsDiscretizer(4, encode="ordinal"), model()), False),
    }


def simulated(estimator: Any, X: Any, y: Any, budget: float, seed: int, n: int) -> list[float]:
    """Accuracy on all rows of releases of randomly drawn candidates."""
    candidates = Design(seed=seed).candidates(estimator, X, y)
    plan = ParameterPlan.of(estimator, lambda: candidates, Target(budget), ReleaseChoices())
    releases = SimulatedReleases(
        estimator,
        candidates.space,
        plan.outputs,
        lambda model, X, y: model.score(X, y),
        HeldOut(lambda _: (X, y)),
        n_releases=n,
        seed=seed,
    )
    return releases.at(plan.calibrate(opening_belief(candidates.space.weights))).tolist()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--releases", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=1 / 4)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of fits that stop early
    X, y = load_breast_cancer(return_X_y=True)
    holed = np.where(np.random.default_rng(0).random(X.shape) < MISSING, np.nan, X)
    print(f"{'pipeline':26s} plain  released        lost")
    for name, (make, has_gaps) in pipelines().items():
        if asked.names and name not in asked.names:
            continue
        rows = holed if has_gaps else X
        plain = make().fit(rows, y).score(rows, y)
        scores = [
            score
            for seed in range(asked.seeds)
            for score in simulated(make(), rows, y, asked.budget, seed, asked.releases)
        ]
        mean, error = np.mean(scores), np.std(scores, ddof=1) / np.sqrt(len(scores))
        print(f"{name:26s} {plain:.4f} {mean:.4f} +- {error:.4f}  {plain - mean:.4f}", flush=True)


if __name__ == "__main__":
    main()
