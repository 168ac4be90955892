"""The papers' rules for comparison: their formulas, and what they do not certify."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.baselines.confident_auto_pac import confident_auto_pac
from benchmarks.baselines.variance_converged import variance_converged
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.sampled.confident import confident_law
from pacsklearn.trials.mean_bound import upper_mean_bound


def test_the_stopping_rule_stops_when_nothing_moved():
    outputs = iter([[1.0, 2.0]] * 25)
    noise = variance_converged(outputs, 0.5)
    assert noise.n_trials == 20
    assert noise.noise_power == 0.0
    assert noise.status == "estimated"


def test_the_noise_is_that_of_algorithm_1():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(5000, 3)) * [1.0, 2.0, 0.5]
    noise = variance_converged(outputs, 0.25, precision=0.01)
    deviations = outputs[: noise.n_trials].std(axis=0, ddof=1)
    assert np.diag(noise.covariance) == pytest.approx(deviations * deviations.sum() / 0.5)
    assert noise.claimed == 0.25


def test_it_runs_out_of_trials():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="ended"):
        variance_converged(rng.normal(size=(50, 1)), 0.25)


@pytest.mark.soak
@pytest.mark.statistical
def test_the_stopping_rule_understates_what_leaks():
    # An event of probability 2 %: 20 trials miss it with probability 2/3, and then the rule adds
    # no noise to the coordinate that gives the event away.
    p, budget, wrong = 0.02, 1 / 16, 0
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    assert entropy > 1.5 * budget
    for seed in range(100):
        rng = np.random.default_rng(seed)
        outputs = (rng.random((20_000, 1)) < p) * 1.0
        wrong += variance_converged(outputs, budget, precision=1e-4).noise_power == 0.0
    assert wrong > 50
    # The certificate on the same problem never says less than the truth here (gamma = 1e-6).
    for seed in range(20):
        rng = np.random.default_rng(1000 + seed)
        outputs = (rng.random((1500, 1)) < p) * 1.0
        law = confident_law(outputs[:500], outputs[500:], Target(budget))
        if law.dimension:
            point = [law.span.distance(law.span.coordinates(np.array([x]))) for x in (0.0, 1.0)]
            assert (1 - p) * point[0] + p * point[1] <= law.mean_distance


def test_auto_pac_with_separated_eigenvalues():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(400, 2)) * [10.0, 1.0]
    noise = confident_auto_pac(outputs, radius=1.0, security=0.01, spectral=0.25, slack=0.05)
    values, vectors = np.linalg.eigh(np.cov(outputs.T, bias=True))
    roots = np.sqrt(values + 10 * 0.01 * 0.25 / 0.05)
    expected = vectors @ np.diag(roots * roots.sum() / 0.5) @ vectors.T
    assert noise.covariance == pytest.approx(expected)
    assert noise.claimed == pytest.approx(0.3)
    assert noise.status == "estimated"


def test_auto_pac_with_close_eigenvalues_is_isotropic():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(400, 3))
    noise = confident_auto_pac(outputs, radius=10.0, security=0.1, spectral=0.25, slack=0.05)
    level = (np.trace(np.cov(outputs.T, bias=True)) + 0.3) / 0.5
    assert noise.covariance == pytest.approx(level * np.eye(3))


@pytest.mark.parametrize("name", ["radius", "security", "spectral", "slack"])
def test_auto_pac_arguments(name):
    arguments = {"radius": 1.0, "security": 0.1, "spectral": 0.1, "slack": 0.1, name: 0.0}
    with pytest.raises(ValueError, match=f"{name} must be a positive"):
        confident_auto_pac(np.ones((3, 2)), **arguments)
    with pytest.raises(ValueError, match="outputs"):
        confident_auto_pac(np.ones(3), **{**arguments, name: 0.1})


def test_mean_bounds_are_the_shared_ones():
    assert confident_law.__globals__["upper_mean_bound"] is upper_mean_bound
