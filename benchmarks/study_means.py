"""The mean of each feature: PAC noise beside a Laplace mechanism of the same membership bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from study_data import StudyData
from study_releases import target_for

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space

BUDGETS = (1 / 4, 1 / 16, 1 / 64)
# Features lie in [-2.5, 2.5], clipped, and distances are stated for [0, 1].
_WIDTH = 5.0
_NOISES = {
    "PAC, diagonal": "diagonal",
    "PAC, ours": "logdet",
    "PAC, ours, cap on membership": "criterion",
}


class Row(NamedTuple):
    """Distances to the true mean before noise and after it, in units of the stated range."""

    mechanism: str
    budget: float
    epsilon: float
    before: float
    after: float


def distances(data: StudyData, n_releases: int) -> list[Row]:
    X = np.clip(data.X, -_WIDTH / 2, _WIDTH / 2) / _WIDTH
    truth = (data.X / _WIDTH).mean(axis=0)
    space = balanced_space(X.shape[0])
    means = np.stack([X[space.rows(i)].mean(axis=0) for i in range(space.n_subsets)])
    support = Support(means)
    sampled = float(np.mean(np.linalg.norm(means - truth, axis=1)))
    clipped = float(np.linalg.norm(X.mean(axis=0) - truth))
    rows = []
    for budget in BUDGETS:
        epsilon = dp_epsilon(posterior_success(budget))
        laplace = _laplace(X, epsilon, n_releases)
        error = float(np.mean(np.linalg.norm(laplace - truth, axis=1)))
        rows.append(Row("DP, Laplace", budget, epsilon, clipped, error))
        for name, noise in _NOISES.items():
            target = target_for(noise, budget, space)
            law = registry().noise_backend(noise).calibrate(support, target, IdentityMetric())
            draw, sampler = (SeededSampler(np.random.default_rng([0, i])) for i in range(2))
            released = [
                law.decode(law.draw(draw.index(space.weights), sampler)) for _ in range(n_releases)
            ]
            error = float(np.mean(np.linalg.norm(np.array(released) - truth, axis=1)))
            rows.append(Row(name, budget, epsilon, sampled, error))
    return rows


def _laplace(X: np.ndarray, epsilon: float, n_releases: int) -> np.ndarray:
    """Means of all rows with OpenDP's noise; one row moves them by d/n in total at most."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    n, d = X.shape
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=d / n / epsilon)
    mean = X.mean(axis=0).tolist()
    return np.array([mechanism(mean) for _ in range(n_releases)])
