"""The published rules as noise backends, for the tables: registered while they are compared."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from benchmarks.baselines.confident_auto_pac import confident_auto_pac
from benchmarks.baselines.estimated_noise import EstimatedNoise
from benchmarks.baselines.variance_converged import variance_converged
from pacsklearn.kernel.noise.lattice import lattice_centres, opened
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.plugins import register, unregister

__all__ = ["BASELINES", "ConfidentAutoPac", "VarianceConverged", "registered_baselines"]

Floats = NDArray[np.float64]

# Where a rule adds no noise at all: what doubles can hold of the exact output.
_NO_NOISE = 2.0**-40


class _PublishedRule(NoiseBackend):
    """A rule of the papers on trials drawn from the candidates, by a public seed.

    Parameters
    ----------
    n_trials : int
    seed : int
    """

    name: str

    def __init__(self, n_trials: int = 2000, seed: int = 0) -> None:
        self.n_trials, self.seed = n_trials, seed

    @abstractmethod
    def rule(self, trials: Floats, budget: float) -> EstimatedNoise:
        """Covariance by the rule, in the units of the metric."""

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes, exact = opened(support, target, span, self.name)
        if exact is not None:
            return exact
        generator = np.random.default_rng(self.seed)
        drawn = generator.choice(support.n_candidates, size=self.n_trials, p=support.weights)
        noise = self.rule(span.coordinates[drawn], target.budget)
        variances, rotation = np.linalg.eigh(noise.covariance)
        spread = np.sqrt(span.variances.sum()) * _NO_NOISE
        deviations = np.maximum(np.sqrt(np.maximum(variances, 0.0)), spread)
        step = deviations / LATTICE_SCALE
        return NoiseLaw(
            centres=lattice_centres(span.coordinates @ rotation, step, self.name),
            step=step,
            axes=rotation.T @ axes,
            origin=support.mean,
            scale=LATTICE_SCALE,
            bound=min(noise.claimed, target.budget),
            proof=f"ESTIMATED, not proved: {noise.source}, if {noise.assumption}",
            backend=self.name,
            noise_power=noise.noise_power,
            released_power=noise.noise_power,
            confidence=0.0,
        )


class VarianceConverged(_PublishedRule):
    """Diagonal noise once variances have stopped changing (pac-private-algorithms, section 7)."""

    name = "variance_converged"

    def rule(self, trials: Floats, budget: float) -> EstimatedNoise:
        # A change of a hundredth of the largest variance between two looks counts as none.
        precision = float(trials.var(axis=0).max()) / 100
        return variance_converged(trials, budget, precision=precision)


class ConfidentAutoPac(_PublishedRule):
    """Anisotropic noise with a security parameter (residual-pac, Algorithm 1)."""

    name = "confident_auto_pac"

    def rule(self, trials: Floats, budget: float) -> EstimatedNoise:
        # Half of the budget for the noise and half for the error of the estimate.
        return confident_auto_pac(
            trials,
            radius=float(np.sqrt((trials**2).sum(axis=1).max())),
            security=float(trials.var(axis=0).max()) / 1000,
            spectral=budget / 2,
            slack=budget / 2,
        )


BASELINES: tuple[type[_PublishedRule], ...] = (VarianceConverged, ConfidentAutoPac)


@contextmanager
def registered_baselines() -> Iterator[tuple[str, ...]]:
    """Names of the baselines, which are noise backends like any plugin's inside the block."""
    for rule in BASELINES:
        register(rule)
    try:
        yield tuple(rule.name for rule in BASELINES)
    finally:
        for rule in BASELINES:
            unregister(rule)
