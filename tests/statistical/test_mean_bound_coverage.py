"""Coverage of the bounds for bounded means, also where rare events carry the mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.trials.mean_bound import upper_mean_bound

pytestmark = pytest.mark.statistical

N_RUNS, N = 400, 300
GAMMA = 0.1


def _rare(p):
    return lambda rng, shape: (rng.random(shape) < p) * 1.0, p


LAWS = {
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "skewed": (lambda rng, shape: rng.random(shape) ** 8, 1 / 9),
    "one in 100": _rare(1 / 100),
    # The adversary's choice: the event stays unseen in about a tenth of all samples.
    "just unseen": _rare(1 - 0.1 ** (1 / N)),
    "floor and rare": (lambda rng, shape: 0.2 + 0.8 * (rng.random(shape) < 0.004), 0.2032),
    "near the top": (lambda rng, shape: 1 - 0.02 * rng.random(shape), 0.99),
}


@pytest.mark.product(only=1)
@pytest.mark.parametrize("name", sorted(LAWS))
@pytest.mark.parametrize("which", ["best of two", "columns"])
def test_fails_no_more_often_than_stated(name, which):
    # A true failure rate of gamma = 0.1 passes with probability 1 - 1e-4; 0.21 fails with 0.99.
    draw, mean = LAWS[name]
    draws = draw(np.random.default_rng(20), (N_RUNS, N))
    if which == "columns":
        bounds = upper_mean_bounds(draws.sum(1), (draws**2).sum(1), N, 0.0, 1.0, GAMMA)
    else:
        bounds = np.array([upper_mean_bound(row, 0.0, 1.0, GAMMA) for row in draws])
    failures = int(np.sum(bounds < mean))
    assert binomtest(failures, N_RUNS, GAMMA, alternative="greater").pvalue > 1e-4


def test_normal_intervals_fail_on_a_rare_event():
    draws = _rare(1 / 1000)[0](np.random.default_rng(21), (N_RUNS, N))
    normal = draws.mean(1) + 1.2816 * draws.std(1, ddof=1) / np.sqrt(N)
    assert np.mean(normal < 1 / 1000) > 0.5
