"""How cost grows: exponents of processor time in rows, candidates, classes, releases and answers.

Each line is three or more sizes of one thing, everything else fixed, one thread; the floor is the
plain model (for candidates: as many plain fits) at the same sizes, in turn with the private one. An
exponent is the slope of log seconds over log size by least squares; the error beside it is that of
the mean over repetitions. What does not grow, most of the cost at a small size, pulls an exponent
down, so the last column shows the slope between the two largest sizes alone.

    python benchmarks/bench_slopes.py --repeats 3 --only rows candidates
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from report import print_table
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from pacsklearn import Answers, PACPrivate, PrivacySession, Subsets

Work = Callable[[], object]
Size = tuple[int, Work, Work]
"""What there is more of, the private work and its floor."""


def table(n: int, p: int, n_classes: int = 2) -> tuple[Any, Any]:
    """Rows around one centre a class, which overlap; targets that are classes."""
    generator = np.random.default_rng(0)
    y = generator.permutation(np.arange(n) % n_classes)
    centres = generator.normal(scale=2 / p**0.5, size=(n_classes, p))
    return generator.normal(size=(n, p)) + centres[y], y


def rows(estimator: Any) -> Iterator[Size]:
    """Rows of the table, 20 columns."""
    for n in (2_000, 20_000, 200_000):
        X, y = table(n, 20)
        yield n, partial(PACPrivate(estimator).fit, X, y), partial(clone(estimator).fit, X, y)


def columns(estimator: Any) -> Iterator[Size]:
    """Columns of 20,000 rows."""
    for p in (10, 40, 160):
        X, y = table(20_000, p)
        yield p, partial(PACPrivate(estimator).fit, X, y), partial(clone(estimator).fit, X, y)


def candidates(estimator: Any) -> Iterator[Size]:
    """Candidates m, 20,000 rows of 20 columns."""
    X, y = table(20_000, 20)
    half = clone(estimator)

    def floor(m: int) -> None:
        for _ in range(m):
            half.fit(X[::2], y[::2])

    for m in (128, 512, 2048):
        model = PACPrivate(estimator, secret=Subsets(m))
        yield m, partial(model.fit, X, y), partial(floor, m)


def classes(estimator: Any) -> Iterator[Size]:
    """Classes, 20,000 rows of 20 columns."""
    for k in (2, 8, 26):
        X, y = table(20_000, 20, k)
        yield k, partial(PACPrivate(estimator).fit, X, y), partial(clone(estimator).fit, X, y)


def releases(estimator: Any) -> Iterator[Size]:
    """Releases of one session, 2,000 rows of 20 columns."""
    X, y = table(2_000, 20)
    plain = clone(estimator)

    def session(k: int) -> None:
        with PrivacySession(X, y, budget=1 / 4) as opened:
            for _ in range(k):
                opened.release(estimator, budget=1 / 4096)

    def floor(k: int) -> None:
        for _ in range(k):
            plain.fit(X, y)

    for k in (10, 100, 1_000):
        yield k, partial(session, k), partial(floor, k)


def answers(estimator: Any) -> Iterator[Size]:
    """Answers of one model that was fitted on 2,000 rows of 20 columns."""
    X, y = table(2_000, 20)
    plain = clone(estimator).fit(X, y)
    for k in (10_000, 100_000, 1_000_000):
        private = PACPrivate(estimator, budget=1 / 16, release=Answers(10_000_000)).fit(X, y)
        asked = table(k, 20)[0]
        private.predict(asked[:2_000] + 0.1)  # for what is compiled
        yield k, partial(private.predict, asked), partial(plain.predict, asked)


LINES = {
    rows: (Ridge(), GaussianNB(), LogisticRegression(), PCA(5)),
    columns: (Ridge(), GaussianNB(), LogisticRegression(), PCA(5)),
    candidates: (Ridge(), GaussianNB(), LogisticRegression()),
    classes: (GaussianNB(), LogisticRegression()),
    releases: (Ridge(),),
    answers: (LogisticRegression(), HistGradientBoostingClassifier(max_iter=15)),
}


def seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def exponent(sizes: Any, found: Any) -> str:
    """Mean slope over repetitions, and the error of the mean."""
    slopes = np.polyfit(np.log(sizes), np.log(found).T, 1)[0]
    error = slopes.std(ddof=1) / len(slopes) ** 0.5 if len(slopes) > 1 else np.nan
    return f"{slopes.mean():.2f} ({error:.2f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[kind.__name__ for kind in LINES])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # poor releases are meant
    lines = []
    with threadpool_limits(1):
        for kind, estimators in LINES.items():
            if options.only and kind.__name__ not in options.only:
                continue
            for estimator in estimators:
                sizes, found = [], []
                for size, private, floor in kind(estimator):
                    both = [(seconds(private), seconds(floor)) for _ in range(options.repeats + 1)]
                    sizes.append(size)
                    found.append(both[1:])  # the first loads and compiles
                taken = np.array(found).transpose(2, 1, 0)  # side, repetition, size
                lines.append(
                    [
                        f"{kind.__name__}, {type(estimator).__name__}",
                        " ".join(f"{size:,}" for size in sizes),
                        *(
                            " ".join(f"{one:.3g}" for one in np.median(side, axis=0))
                            for side in taken
                        ),
                        *(exponent(sizes, side) for side in taken),
                        exponent(sizes[-2:], taken[0][:, -2:]),
                    ]
                )
                print(*lines[-1], sep="  ", flush=True)
    titles = ["more of", "sizes", "CPU s", "floor's", "exponent (error)", "floor's", "last two"]
    print_table("Growth of processor time, default calls", titles, lines)


if __name__ == "__main__":
    main()
