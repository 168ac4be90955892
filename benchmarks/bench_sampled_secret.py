"""What a secret drawn from all balanced subsets costs, beside one of a list of 128.

    python benchmarks/bench_sampled_secret.py [--releases 40]

Breast cancer, linear discriminant behind a scaler, at 1/16 nat: noise power over that of the
enumerated law in the same metric, accuracy on the whole table, CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.plugins import registry
from pacsklearn.sampled.sampled_subsets import SampledDesign, SampledSubsets
from pacsklearn.universe.design import Design

BUDGET = 1 / 16
MODEL = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())


def listed(X: Any, y: Any, n_releases: int) -> tuple[float, float, float]:
    """Noise power, mean accuracy and CPU seconds with 128 candidates."""
    began = time.process_time()
    candidates = Design(seed=1).candidates(MODEL, X, y, FitOptions())
    outputs = candidates.outputs(registry().canonicalizer("auto", MODEL))
    cost = outputs.metric()
    law = registry().noise_backend("logdet").calibrate(outputs.support(), Target(BUDGET), cost)
    seconds = time.process_time() - began
    generator, scores = np.random.default_rng(0), []
    for _ in range(n_releases):
        noise = np.rint(generator.normal(0, law.scale, law.dimension)).astype(np.int64)
        vector = law.decode(law.observe(int(generator.integers(128)), noise))
        scores.append(outputs.decode(vector).score(X, y))
    return law.noise_power, float(np.mean(scores)), seconds


KINDS = {"sampled": SampledSubsets(), "sampled-large": SampledSubsets(500, 5000)}


def sampled(X: Any, y: Any, kind: str, n_releases: int) -> tuple[float, float, float]:
    """The same for a drawn secret; the power is compared in its own trials' metric."""
    began = time.process_time()
    candidates = SampledDesign(Design(seed=1), KINDS[kind].sizes).candidates(
        MODEL, X, y, FitOptions()
    )
    outputs = candidates.outputs(registry().canonicalizer("auto", MODEL))
    support, cost = outputs.support(), outputs.metric()
    law = candidates.space.backend(1).calibrate(support, Target(BUDGET), cost)
    seconds = time.process_time() - began
    sampler, scores = SeededSampler(np.random.default_rng(0)), []
    for _ in range(n_releases):
        noisy = law.decode(law.draw(candidates.space.draw(sampler), sampler))
        scores.append(outputs.decode(noisy).score(X, y))
    # What the log-determinant bound alone would ask for on the law of all balanced subsets,
    # measured on all trials and in the metric of the release.
    root = cost.root(np.concatenate([support.calibration, support.certificate]))
    variances = np.linalg.svd(root - root.mean(axis=0), compute_uv=False) ** 2 / len(root)
    least = float(logdet_allocation(variances[variances > 1e-12 * variances[0]], BUDGET).sum())
    return law.noise_power / least, float(np.mean(scores)), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=40)
    n_releases = parser.parse_args().releases
    X, y = load_breast_cancer(return_X_y=True)
    _, accuracy, seconds = listed(X, y, n_releases)
    print(f"{'listed, 128':<28}{1.0:6.2f} times the noise{accuracy:8.3f}{seconds:8.2f} CPU s")
    for kind in ("sampled", "sampled-large"):
        ratio, accuracy, seconds = sampled(X, y, kind, n_releases)
        print(f"{kind:<28}{ratio:6.2f} times the noise{accuracy:8.3f}{seconds:8.2f} CPU s")


if __name__ == "__main__":
    main()
