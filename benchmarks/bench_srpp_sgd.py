"""Private gradient descent: speed of a clipped step, memory, and what noise costs."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
from report import Figures, print_table
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.srpp import (
    DifferingRows,
    DiscrepancyCap,
    NoiseMultiplier,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, clipped_sum
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.release.run import Charging, PrivateRun

N, D, B = 50_000, 100, 512
LOSS = LOSSES["log_loss"]


def unclipped(rows: np.ndarray, targets: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    slopes = LOSS.slopes(rows @ parameters[:, :-1].T + parameters[:, -1], targets)
    total = np.empty_like(parameters)
    total[:, :-1] = slopes.T @ rows
    total[:, -1] = slopes.sum(axis=0)
    return total


def looped(rows: np.ndarray, targets: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    total = np.zeros_like(parameters)
    for row, target in zip(rows, targets, strict=True):
        slope = LOSS.slopes(parameters[:, :-1] @ row + parameters[:, -1], target)
        gradient = np.append(slope[0] * row, slope[0])
        total[0] += gradient * min(1.0, 1.0 / max(np.linalg.norm(gradient), 1e-300))
    return total


def clipped(rows: np.ndarray, targets: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return clipped_sum(rows, targets, parameters, LOSS, 1.0)


def median(step: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        step()
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def speed(figures: Figures) -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((N, D))
    targets = np.where(generator.random((N, 1)) < 0.5, 1.0, -1.0)
    parameters = generator.standard_normal((1, D + 1)) / 10

    def step(total: Callable[..., np.ndarray]) -> Callable[[], object]:
        def once() -> None:
            rows = generator.integers(0, N, B)
            total(X[rows], targets[rows], parameters)

        return once

    seconds = {
        "unclipped": median(step(unclipped), 1000),
        "clipped": median(step(clipped), 1000),
        "loop over rows": median(step(looped), 30),
    }
    cap = DiscrepancyCap.differing(N, 20, B)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (D + 1,)), 16.0, "worst-case")
    with PrivateRun(
        accountant, DifferingRows(20), 500.0, charging=Charging(1e9), sampler=SecureSampler()
    ) as run:

        def whole() -> None:
            rows = run.next_batch()
            run.noised_mean(clipped(X[rows], targets[rows], parameters).ravel())

        whole()
        seconds["clipped, charged, exact noise"] = median(whole, 1000)
    rows = [(name, f"{1e6 * each:.0f}") for name, each in seconds.items()]
    print_table(f"one step, n = {N:,}, d = {D}, B = {B}", ("step", "microseconds"), rows)
    figures.at_least(
        "clipping over a Python loop over rows",
        30,
        seconds["loop over rows"] / seconds["clipped"],
        "times",
    )
    figures.at_most(
        "clipped over unclipped step", 3, seconds["clipped"] / seconds["unclipped"], "times"
    )
    exact = seconds["clipped, charged, exact noise"]
    figures.note("whole private step, with account and exact noise", f"{1e3 * exact:.2f} ms")


def memory(figures: Figures) -> None:
    peaks = {}
    for n in (5_000, 200_000):
        X, targets = np.zeros((n, 20)), np.ones((n, 1))
        cap = DiscrepancyCap.differing(n, 20, B)
        accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (21,)), 16.0, "worst-case")
        with PrivateRun(
            accountant, DifferingRows(20), 500.0, charging=Charging(1e9), sampler=SecureSampler()
        ) as run:
            for measured in (False, False, True):
                if measured:
                    tracemalloc.start()
                rows = run.next_batch()
                total = clipped(X[rows], targets[rows], np.zeros((1, 21)))
                run.noised_mean(total.ravel())
            peaks[n] = tracemalloc.get_traced_memory()[1] / 1024
            tracemalloc.stop()
    print_table(
        "peak memory of a step", ("rows", "KiB"), [(f"{n:,}", f"{p:.0f}") for n, p in peaks.items()]
    )
    small, large = peaks.values()
    figures.at_most("peak memory of a step, 200,000 over 5,000 rows", 1.1, large / small, "times")


def accuracy(figures: Figures) -> None:
    digits, labels = load_digits(return_X_y=True)
    table, target = load_breast_cancer(return_X_y=True)
    sets = {"breast cancer": (scale(table), target), "digits": (digits / 16, labels)}
    rows = []
    for name, (X, y) in sets.items():
        gaps = []
        for loss in ("log_loss", "hinge"):
            scores: dict[str, list[float]] = {"ours": [], "theirs": []}
            for seed in range(10):
                train, test, y_train, y_test = train_test_split(
                    X, y, test_size=0.3, random_state=seed, stratify=y
                )
                theirs = SGDClassifier(loss=loss, random_state=seed).fit(train, y_train)
                ours = SRPPSGDClassifier(
                    loss=loss,
                    budget=NoiseMultiplier(0),
                    clipping=100,
                    batches=16,
                    random_state=seed,
                ).fit(train, y_train)
                scores["theirs"].append(100 * theirs.score(test, y_test))
                scores["ours"].append(100 * ours.score(test, y_test))
            mine, other = np.mean(scores["ours"]), np.mean(scores["theirs"])
            rows.append((f"{name}, {loss}", f"{other:.2f}", f"{mine:.2f}"))
            gaps.append(other - mine)
        figures.at_most(f"points below SGDClassifier without noise, {name}", 1, max(gaps), "points")
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), (y - 150) / 75
    theirs = SGDRegressor(random_state=0).fit(X, y).score(X, y)
    ours = SRPPSGDRegressor(
        budget=NoiseMultiplier(0),
        clipping=100,
        batches=16,
        learning_rate=0.03,
        epochs=50,
        random_state=0,
    ).fit(X, y)
    rows.append(("diabetes (R2), squared", f"{100 * theirs:.2f}", f"{100 * ours.score(X, y):.2f}"))
    print_table("without noise, ten splits", ("data", "SGD of scikit-learn", "ours"), rows)


def main() -> None:
    warnings.simplefilter("ignore")
    figures = Figures()
    speed(figures)
    memory(figures)
    accuracy(figures)
    figures.show()


if __name__ == "__main__":
    main()
