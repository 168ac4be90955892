"""Answers, plain and private: processor time a row, both sides in turn in one run, one thread.

Digits, half of them to fit and the rest to ask, repeated with noise. The floor of a private answer
is a plain one of the same model, and the exact noise that is drawn for it: of the private time,
"noise us" is that. "alone" is a row that is asked by itself.

    python benchmarks/bench_answers.py --rows 20000 --classes 2
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from pacsklearn import Answers, PACPrivate
from pacsklearn.kernel.noise.sampler import SecureSampler

CASES: dict[str, tuple[Any, float]] = {
    "KNeighbors": (KNeighborsClassifier(algorithm="brute"), 110),
    "HistGradientBoosting(15)": (HistGradientBoostingClassifier(max_iter=15), 40),
    "RandomForest(50)": (RandomForestClassifier(50, random_state=0), 50),
    "SVC": (SVC(), 120),
    "LogisticRegression": (LogisticRegression(max_iter=200), 50),
}
ALONE_MS = 2.0


class Drawing:
    """Processor time that exact noise takes, in whichever thread it is drawn."""

    seconds = 0.0

    @classmethod
    def timed(cls, noise: Callable[..., Any]) -> Callable[..., Any]:
        def draw(sampler: SecureSampler, size: int) -> Any:
            start = time.thread_time()
            drawn = noise(sampler, size)
            cls.seconds += time.thread_time() - start
            return drawn

        return draw


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def alone_ms(model: Any, rows: Any) -> float:
    """Median milliseconds for one row that is asked by itself."""
    return 1e3 * float(np.median([seconds(partial(model.predict, row[None])) for row in rows]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="NAME")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # poor releases are meant
    X, y = load_digits(return_X_y=True)
    X, y = X[y < arguments.classes], y[y < arguments.classes]
    generator = np.random.default_rng(0)
    order = generator.permutation(len(X))
    train, rest = order[: len(X) // 2], order[len(X) // 2 :]
    asked = X[generator.choice(rest, arguments.rows)]
    asked = asked + generator.normal(scale=0.5, size=asked.shape)
    warm, alone = asked[:16_384] + 0.1, asked[-200:] + 0.2
    figures, rows = Figures(), []
    SecureSampler.noise = Drawing.timed(SecureSampler.noise)  # type: ignore[method-assign]
    with threadpool_limits(1):
        for name in arguments.only or CASES:
            estimator, goal = CASES[name]
            plain = estimator.fit(X[train], y[train])
            private = PACPrivate(estimator, budget=1 / 16, release=Answers(2_000_000))
            private.fit(X[train], y[train])
            private.predict(warm)
            own = 1e6 * seconds(partial(plain.predict, asked)) / len(asked)
            before = Drawing.seconds
            asks = 1e6 * seconds(partial(private.predict, asked)) / len(asked)
            noise = 1e6 * (Drawing.seconds - before) / len(asked)
            line = (own, asks, noise, goal, alone_ms(plain, alone), alone_ms(private, alone))
            rows.append((name, *(f"{number:.2f}" for number in line)))
            figures.at_most(f"{name}, us a row", goal, asks)
            figures.at_most(f"{name}, ms for one row alone", ALONE_MS, line[-1])
            print(rows[-1], flush=True)
    print_table(
        f"{arguments.rows:,} answers, {arguments.classes} classes of digits, CPU time, one thread",
        ("", "plain us", "private us", "noise us", "goal", "plain alone ms", "alone ms"),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
