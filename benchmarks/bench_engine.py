"""Queries a second that the engine of private labels answers, exact noise included.

128 candidates' labels are given. One thread computes; the noise is OpenDP's exact discrete
Gaussian, drawn by the pool's background thread (and by the computing thread when it finds the pool
empty) from an empty start, so every value used is drawn while the clock runs. Contested rows look
as those of support vector machines on the digits: three quarters of them have two distinct labels,
a fifth three, and in half of them less than a tenth of the models disagree with the rest. The step
budget is small enough for the belief to stay open to the end.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
from numpy.typing import NDArray
from report import Figures, print_table
from threadpoolctl import threadpool_limits

from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.belief import uniform_belief
from pacsklearn.kernel.noise.sampler import NoisePool, SecureSampler

M = 128
STEP_BUDGET = 2.0**-20
NOISE_AT_ONCE = 2**12
RUNS = 3
PLAIN_ROWS = 10_000

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


def labels(n: int, classes: int, contested: float, rng: np.random.Generator) -> Codes:
    """Labels of all candidates, rows in random order."""
    codes = np.repeat(rng.integers(0, classes, (n, 1), dtype=np.uint8), M, axis=1)
    for row in np.flatnonzero(rng.random(n) < contested):
        distinct = min(classes, int(rng.choice([2, 3, 4], p=[0.76, 0.2, 0.04])))
        others = (codes[row, 0] + rng.permutation(classes - 1)[: distinct - 1] + 1) % classes
        dissent = max(distinct - 1, round(M * min(0.5, rng.exponential(0.14))))
        who = rng.permutation(M)[:dissent]
        codes[row, who] = np.concatenate([others, rng.choice(others, dissent - others.size)])
    return codes


def ours(codes: Codes, secret: int) -> tuple[float, int, float]:
    """Seconds, noise values used, and seconds of waiting for them."""
    start = time.perf_counter()
    belief = uniform_belief(M)
    noise = np.empty(0, dtype=np.int64)
    position, drawn, waited = 0, 0, 0.0
    with NoisePool(SecureSampler()) as pool:
        while position < codes.shape[0]:
            told = LabelEngine().answer(codes[position:], secret, belief, STEP_BUDGET, noise)
            belief, noise = told.log_belief, noise[told.noise_used :]
            position += told.answers.shape[0]
            drawn += told.noise_used
            if position < codes.shape[0]:  # noise ran out
                asked = time.perf_counter()
                noise = np.concatenate([noise, pool.take(NOISE_AT_ONCE)])
                waited += time.perf_counter() - asked
        seconds = time.perf_counter() - start
    return seconds, drawn, waited


def plain(codes: Codes, secret: int, classes: int, rng: np.random.Generator) -> float:
    """Seconds of Algorithm 1 as published: covariance, SVD, Gaussian noise, posterior."""
    one_hot = np.eye(classes)
    start = time.perf_counter()
    log_belief = uniform_belief(M)
    for row in codes:
        outputs = one_hot[row]
        weights = np.exp(log_belief)
        centred = outputs - weights @ outputs
        basis, variances, _ = np.linalg.svd((centred * weights[:, None]).T @ centred)
        spread = np.sqrt(np.where(variances > 1e-12, variances, 0.0))
        scale = np.sqrt(spread * spread.sum() / (2 * STEP_BUDGET))
        released = outputs[secret] + basis @ (scale * rng.normal(size=classes))
        released.argmax()
        used = scale > 0
        distances = ((released - outputs) @ basis[:, used]) / scale[used]
        log_belief = log_belief - 0.5 * np.sum(distances**2, axis=1)
        top = log_belief.max()
        log_belief -= top + np.log(np.sum(np.exp(log_belief - top)))
    return time.perf_counter() - start


def compare(
    name: str,
    n: int,
    classes: int,
    contested: float,
    targets: tuple[float, float],
    figures: Figures,
) -> list[object]:
    rng = np.random.default_rng(classes)
    codes = labels(n, classes, contested, rng)
    secret = int(rng.integers(M))
    # Beforehand: compilation, and the sampler's library.
    ours(codes[:1000], secret)
    runs = [ours(codes, secret) for _ in range(RUNS)]
    seconds, drawn, waited = min(runs)
    # The same rows in both: the plain one takes minutes for all of them, so it gets the first.
    slow = min(plain(codes[:PLAIN_ROWS], secret, classes, rng) for _ in range(RUNS)) / PLAIN_ROWS
    rate, ratio = n / seconds, slow * n / seconds
    figures.at_least(f"{name}: queries a second", targets[0], rate, "")
    figures.at_least(f"{name}: ratio to numpy", targets[1], ratio, "x")
    split = np.mean(np.any(codes != codes[:, :1], axis=1))
    return [
        name,
        f"{split:.1%}",
        f"{drawn:,}",
        ", ".join(f"{n / each[0]:,.0f}" for each in runs),
        f"{waited / seconds:.0%}",
        f"{n / (seconds - waited):,.0f}",
        f"{1 / slow:,.0f}",
        f"{ratio:.0f}x",
    ]


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    figures = Figures()
    with threadpool_limits(1):
        rows = [
            compare("10 classes", n, 10, 0.10, (100_000, 10), figures),
            compare("2 classes", n, 2, 0.05, (500_000, 40), figures),
        ]
    print_table(
        f"{n:,} queries, {M} candidates, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        (
            "",
            "contested",
            "noise values",
            "queries/s, every run",
            "waiting",
            "without waiting",
            "numpy SVD",
            "ratio",
        ),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
