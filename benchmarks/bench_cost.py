"""What privacy costs in time and memory, against bare scikit-learn.

Ratios are medians over interleaved repetitions, in processor time (wall time beside it): a busy
machine disturbs both sides alike. One BLAS thread throughout.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from public_data import rice
from report import Figures, print_table
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pacsklearn import PACPrivate, Subsets, config_context
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.metrics import DiagonalMetric

N_SUBSETS = 128
WIDE = 100_000
MEGABYTE = 2**20
SLOW_MODEL = LogisticRegression(C=0.1, max_iter=300)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - processor, time.perf_counter() - wall


def bare_fits(estimator: Any, X: Any, y: Any, subsets: list[Any]) -> None:
    for rows in subsets:
        clone(estimator).fit(X[rows], y[rows])


def share_of_fits(estimator: Any, X: Any, y: Any) -> float:
    """Processor time of one PACPrivate.fit over that of the ``N_SUBSETS`` fits inside it.

    Clones and cutting of rows, which bare fits need too, count against PACPrivate here.
    """
    inside = []

    class Timed(type(estimator)):
        def fit(self, *args: Any, **params: Any) -> Any:
            start = time.process_time()
            super().fit(*args, **params)
            inside.append(time.process_time() - start)
            return self

    whole, _ = timed(lambda: PACPrivate(Timed(**estimator.get_params())).fit(X, y))
    return whole / (np.mean(inside) * N_SUBSETS)


def against_bare(figures: Figures, name: str, target: float, repeats: int, *job: Any) -> None:
    """Print one row a repetition; add the median ratios in processor time."""
    estimator, X, y = job
    space = balanced_space(len(X), n_subsets=N_SUBSETS, strata=y)
    subsets = [space.rows(index) for index in range(N_SUBSETS)]
    works = {
        "bare": lambda: bare_fits(estimator, X, y, subsets),
        "seeded": lambda: PACPrivate(estimator, random_state=0).fit(X, y),
        "secure": lambda: PACPrivate(estimator).fit(X, y),
    }
    PACPrivate(LinearSVC(), secret=Subsets(4)).fit(
        X[:100], y[:100]
    )  # OpenDP is loaded once a process
    rows, ratios, within = [], {"seeded": [], "secure": []}, []
    for _ in range(repeats):
        seconds = {kind: timed(work) for kind, work in works.items()}
        bare, row = seconds["bare"], []
        for kind in works:
            row += [f"{value:.2f}" for value in seconds[kind]]
        for kind, found in ratios.items():
            found.append(seconds[kind][0] / bare[0])
            row.append(f"{found[-1]:.3f} ({seconds[kind][1] / bare[1]:.3f})")
        within.append(share_of_fits(estimator, X, y))
        rows.append([*row, f"{within[-1]:.3f}"])
    header = ("bare: CPU s", "wall s", "seed: CPU s", "wall s", "secure: CPU s", "wall s")
    title = f"{name}: PACPrivate.fit over {N_SUBSETS} bare fits; ratios in CPU time (wall time)"
    print_table(title, (*header, "seeded", "secure", "within one run"), rows)
    for kind, found in ratios.items():
        figures.at_most(
            f"fit over bare fits, {name}, {kind} noise", target, float(np.median(found))
        )
    figures.note("  the same within one run", f"{np.median(within):.3f}")


def large_problem(n_rows: int, n_features: int) -> tuple[Any, Any]:
    return make_classification(
        n_rows,
        n_features,
        n_informative=n_features // 2,
        n_redundant=n_features // 5,
        class_sep=0.7,
        random_state=0,
    )


def bench_ratio(figures: Figures, repeats: int) -> None:
    X, y = large_problem(12_000, 80)
    against_bare(figures, "logistic regression 12,000 x 80", 1.1, repeats, SLOW_MODEL, X, y)
    data = rice()
    if data is None:
        figures.add("fit over bare fits, Rice", "<= 1.5", "no data", None)
        return
    against_bare(figures, "LinearSVC, Rice", 1.5, 2 * repeats + 1, LinearSVC(), *data.train)


def bench_workers(figures: Figures, repeats: int) -> None:
    X, y = large_problem(25_000, 100)
    PACPrivate(LinearSVC(), secret=Subsets(4), n_jobs=2).fit(X[:100], y[:100])  # starts the workers
    rows, speed = [], []
    for _ in range(repeats):
        with config_context(fast_fit=False):  # fits all at once have no use for workers
            seconds = [
                timed(lambda jobs=jobs: PACPrivate(SLOW_MODEL, n_jobs=jobs).fit(X, y))[1]
                for jobs in (1, 2)
            ]
        speed.append(seconds[0] / seconds[1])
        rows.append([f"{value:.1f}" for value in seconds] + [f"{speed[-1]:.2f}"])
    header = ("one worker: wall s", "two workers: wall s", "faster by")
    print_table("logistic regression, 25,000 x 100: two workers against one", header, rows)
    print(f"  {os.cpu_count()} cores; load before: {os.getloadavg()[0]:.1f}")
    figures.at_least("two workers against one", 1.6, float(np.median(speed)), "times")
    shortest = min(float(row[0]) for row in rows)
    figures.at_least("  its workload with one worker", 20, shortest, "s")


def wide_release(noise: str, metric: str) -> dict[str, float]:
    """Calibrate and release outputs of 100,000 numbers; runs in a process of its own."""
    generator = np.random.default_rng(0)
    outputs = generator.normal(size=(N_SUBSETS, WIDE)) * generator.lognormal(size=WIDE)
    cost = IdentityMetric() if metric == "identity" else DiagonalMetric(np.ones(WIDE))
    sampler, backend = SecureSampler(), registry().noise_backend(noise)
    sampler.noise(1)  # OpenDP is loaded here, once a process

    def release() -> None:
        law = backend.calibrate(Support(outputs), Target(1 / 16), cost)
        law.decode(law.draw(sampler.index(np.full(N_SUBSETS, 1 / N_SUBSETS)), sampler))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    processor, wall = timed(release)
    resident = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    tracemalloc.start()
    release()
    _, traced = tracemalloc.get_traced_memory()
    return {
        "processor": processor,
        "wall": wall,
        "resident": resident / MEGABYTE,
        "traced": traced / MEGABYTE,
    }


def bench_wide(figures: Figures) -> None:
    rows, worst = [], dict.fromkeys(("processor", "wall", "resident", "traced"), 0.0)
    for noise in ("isotropic", "diagonal", "eigen", "logdet"):
        for metric in ("identity", "diagonal"):
            command = [sys.executable, __file__, "--wide", noise, metric]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            worst = {name: max(worst[name], found[name]) for name in worst}
            rows.append([noise, metric, *(f"{found[name]:.2f}" for name in worst)])
    header = ("noise", "metric", "CPU s", "wall s", "peak RSS above (MB)", "peak traced above (MB)")
    size = N_SUBSETS * WIDE * 8 / MEGABYTE
    print_table(
        f"calibration and release, {WIDE:,} outputs of {N_SUBSETS} candidates ({size:.0f} MB)",
        header,
        rows,
    )
    figures.at_most("100,000 outputs: calibration and release", 3, worst["processor"], "CPU s")
    memory = max(worst["resident"], worst["traced"]) / 1024
    figures.at_most("100,000 outputs: peak memory above them", 1, memory, "GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--wide", nargs=2, metavar=("NOISE", "METRIC"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.wide:
        with threadpool_limits(1):
            print(json.dumps(wide_release(*options.wide)))
        return
    warnings.simplefilter("ignore")  # random_state is meant; distances to convergence do not matter
    figures = Figures()
    bench_wide(figures)
    with threadpool_limits(1):
        bench_ratio(figures, options.repeats)
        bench_workers(figures, options.repeats)
    figures.show()


if __name__ == "__main__":
    main()
