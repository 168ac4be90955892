"""Regressors with a public prior: score = 1 - SSE / SSE(public constant), mean over releases.

python benchmarks/bench_regression.py [--repeats 20]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from pacsklearn import Answers, AutoPrivateRegressor, Nats, PACPrivate, Parameters
from pacsklearn.priors import Expected, Range
from pacsklearn.tabular import StepwiseRegressor

BUDGETS = (4.0, 1.0, 1 / 4, 1 / 16, 1 / 64, 1e-4, 1e-9)
QUERIES = 100


def score(y: Any, predicted: Any, constant: float) -> float:
    """One minus the squared error in units of the public constant's."""
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - constant) ** 2))


def tables() -> dict[str, tuple[Any, Any, float, tuple[float, float]]]:
    """Rows, targets, public mean, public range."""
    X, y = load_diabetes(return_X_y=True)
    found = {"diabetes": (X, y, 150.0, (0.0, 350.0))}
    for n in (1000, 5000):
        rows, targets = make_friedman1(n_samples=n, noise=1.0, random_state=0)
        found[f"friedman1 {n}"] = (rows, targets, 14.0, (0.0, 30.0))
    return found


def of_parameters(repeats: int) -> None:
    """Released models, without and with the prior."""
    for name, (X, y, mean, _) in tables().items():
        for model in (LinearRegression(), Ridge(1.0), StepwiseRegressor(2), StepwiseRegressor(4)):
            for budget in BUDGETS:
                told = []
                for prior in (None, Expected(mean)):
                    scores = []
                    for seed in range(repeats):
                        private = PACPrivate(
                            clone(model),
                            budget=budget,
                            release=Parameters(certify=False, prior=prior),
                            random_state=seed,
                        )
                        scores.append(score(y, private.fit(X, y).predict(X), mean))
                    told.append(f"{np.mean(scores):9.3f}")
                print(f"{name:15s} {model!r:20s} {budget:<9.3g}", *told, flush=True)


def of_answers(repeats: int) -> None:
    """A hundred answers at 4 nats."""
    for name, (X, y, mean, ends) in list(tables().items())[:2]:
        asked = np.random.default_rng(0).permutation(len(y))[:QUERIES]
        for model in (
            LinearRegression(),
            make_pipeline(StandardScaler(), SVR(C=20.0)),
            RandomForestRegressor(30, max_depth=5),
        ):
            scores = []
            for seed in range(repeats):
                private = PACPrivate(
                    clone(model),
                    budget=Nats(4.0),
                    release=Answers(QUERIES, prior=Expected(mean, Range(*ends))),
                    random_state=seed,
                ).fit(X, y)
                scores.append(score(y[asked], private.predict(X[asked]), mean))
            title = type(model).__name__ if not hasattr(model, "steps") else "SVR"
            print(f"{name:15s} {title:24s} answers {np.mean(scores):.3f}", flush=True)


def of_auto(repeats: int) -> None:
    """What the automatic choice releases, by its default call."""
    for name, (X, y, mean, ends) in list(tables().items())[:2]:
        for budget in BUDGETS[1:]:
            scores, chosen = [], set()
            for seed in range(repeats):
                auto = AutoPrivateRegressor(
                    budget=budget, prior=Expected(mean, Range(*ends)), random_state=seed
                ).fit(X, y)
                scores.append(score(y, auto.predict(X), mean))
                chosen.add(repr(getattr(auto.best_estimator_, "steps", [("", "constant")])[-1][1]))
            print(f"{name:15s} auto {budget:<9.3g} {np.mean(scores):.3f}", *chosen, flush=True)


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")  # of releases by seed, and of those that are expected poor
    of_answers(min(repeats, 10))
    of_auto(min(repeats, 10))
    of_parameters(repeats)


if __name__ == "__main__":
    main()
