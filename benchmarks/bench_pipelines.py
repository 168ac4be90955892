"""What a pipeline loses to the noise, beside the same model behind a bare scaler.

Breast cancer, ``LogisticRegression(C=0.01)``, accuracy on all rows; plain, then released.

    python benchmarks/bench_pipelines.py [--repeats 10] [--budget 0.25]
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

from pacsklearn import PACPrivate

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


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--budget", type=float, default=1 / 4)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of releases by seed, and of fits that stop early
    X, y = load_breast_cancer(return_X_y=True)
    holed = np.where(np.random.default_rng(0).random(X.shape) < MISSING, np.nan, X)
    print(f"{'pipeline':26s} plain  released      lost")
    for name, (make, has_gaps) in pipelines().items():
        rows = holed if has_gaps else X
        plain = make().fit(rows, y).score(rows, y)
        scores = [
            PACPrivate(make(), budget=asked.budget, random_state=seed, certify=False)
            .fit(rows, y)
            .score(rows, y)
            for seed in range(asked.repeats)
        ]
        error = np.std(scores, ddof=1) / np.sqrt(asked.repeats)
        mean = np.mean(scores)
        print(f"{name:26s} {plain:.3f}  {mean:.3f} +- {error:.3f}  {plain - mean:.3f}", flush=True)


if __name__ == "__main__":
    main()
