"""The certificate of a large table: processor time a row beyond a constant, by model and budget.

    python benchmarks/bench_certificate.py --rows 200000

Two sizes in one run, of the default call, one thread: the slope between them is what a row costs,
and leaves out what is spent once. Beside it the success that is stated, which no speed may change.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from report import print_table
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from pacsklearn import PACPrivate

BUDGETS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # beyond, draws decide: their number depends on the rows
GOAL = 150


def fitted(model: Any, budget: float, n: int, d: int) -> PACPrivate:
    """Fit one model on rows of a linear law."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, d))
    y = X @ generator.normal(size=d) + generator.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PACPrivate(model, budget).fit(X, y > 0 if isinstance(model, GaussianNB) else y)


def seconds(model: Any, budget: float, n: int, d: int, repeats: int) -> tuple[float, float]:
    """Return the least processor time of the certificate, and the success that it states."""
    fits = [fitted(model, budget, n, d) for _ in range(repeats)]
    spent = min(fit.fit_report_.processor["certificate"] for fit in fits)
    return spent, max(fit.guarantee_.certified_membership for fit in fits)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for model, d in [(Ridge(), 5), (Ridge(), 20), (GaussianNB(), 5), (GaussianNB(), 20)]:
            for budget in BUDGETS:
                whole, success = seconds(model, budget, given.rows, d, given.repeats)
                half, _ = seconds(model, budget, given.rows // 2, d, given.repeats)
                slope = 1e9 * (whole - half) / (given.rows - given.rows // 2)
                name = f"{type(model).__name__}, {d} columns"
                rows.append([name, f"{budget:g}", f"{slope:.0f}", f"{success:.2%}"])
    header = ["model", "nats", f"ns a row ({GOAL})", "success at most"]
    print_table(f"certificate of {given.rows:,} rows", header, rows)


if __name__ == "__main__":
    main()
