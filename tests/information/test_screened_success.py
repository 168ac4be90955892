"""Certificates that look at few of many sets, against exhaustive computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from pacsklearn import SecretSpace
from pacsklearn.core.membership_criterion import MembershipCriterion
from pacsklearn.information import GaussianMixture, certified_success, estimated_success
from pacsklearn.information.mean_bound import chernoff_bounds, upper_mean_bounds
from pacsklearn.information.mixture import posteriors
from pacsklearn.information.screened_success import _looked_at, screened_success, spread


def exact(signals: np.ndarray, weights: np.ndarray, unit: np.ndarray) -> float:
    """``E max(P, 1 - P)`` by quadrature in one dimension."""

    def larger(y: float) -> float:
        joint = weights * stats.norm.pdf(y - signals)
        return float(max(joint @ unit, joint @ ~unit))

    edges = (signals.min() - 9, signals.max() + 9)
    return float(integrate.quad(larger, *edges, limit=400, epsabs=1e-9)[0])


def every_set(m: int) -> np.ndarray:
    codes = np.arange(1, 2**m - 1)
    return (codes[:, None] >> np.arange(m) & 1).astype(bool)


@pytest.mark.parametrize("spread_of_signals", [0.1, 0.7, 3.0, 1e7])
@pytest.mark.parametrize("even", [True, False])
def test_every_set_of_a_tiny_space(spread_of_signals: float, even: bool) -> None:
    """Sets of five candidates, with priors from 1/20 to 19/20, one at a time and all together."""
    generator = np.random.default_rng(3)
    signals = spread_of_signals * generator.standard_normal(5)
    weights = np.full(5, 0.2) if even else np.array([0.05, 0.1, 0.2, 0.25, 0.4])
    mixture = GaussianMixture(signals[:, None], weights)
    truths = []
    for unit in every_set(5)[::4]:
        bound = screened_success(mixture, unit[None], 2**10, 1e-6, np.random.default_rng(1))
        truth = exact(signals, weights, unit) if spread_of_signals < 100 else 1.0
        truths.append(truth)
        assert truth - 1e-9 <= bound <= truth + 0.03
    worst = screened_success(mixture, every_set(5), 2**10, 1e-6, np.random.default_rng(2))
    assert max(truths) - 1e-9 <= worst


def test_the_same_as_looking_at_everything() -> None:
    """One hundred units of every visibility: what is screened out was never the worst."""
    generator = np.random.default_rng(0)
    space = SecretSpace.balanced(100, n_subsets=32)
    influence = generator.standard_t(2, size=(100, 6)) / 20
    mixture = GaussianMixture(space.membership().T @ influence, np.full(32, 1 / 32))
    criterion = MembershipCriterion(space)
    found = estimated_success(mixture, criterion, 50_000, np.random.default_rng(5))
    for seed in range(5):
        bound = certified_success(mixture, criterion, 2**11, 1e-6, np.random.default_rng(seed))
        assert found.max() - 4 * 0.5 / np.sqrt(50_000) <= bound <= found.max() + 0.02


@pytest.mark.statistical
def test_certificates_fail_no_more_often_than_they_say() -> None:
    """200 certificates at gamma = 0.2: 59 failures have probability 9e-4 if the rate were 0.2."""
    signals, weights = np.array([-0.6, 0.0, 0.1, 0.9]), np.full(4, 0.25)
    mixture = GaussianMixture(signals[:, None], weights)
    truth = max(exact(signals, weights, unit) for unit in every_set(4))
    failures = sum(
        screened_success(mixture, every_set(4), 32, 0.2, np.random.default_rng(seed)) < truth
        for seed in range(200)
    )
    assert failures < 59


def test_spread_is_the_variance_of_the_posterior() -> None:
    generator = np.random.default_rng(0)
    mixture = GaussianMixture(generator.standard_normal((6, 2)), generator.dirichlet(np.ones(6)))
    blocks = list(mixture.draws(3000, generator))
    sets = every_set(6)
    kept: list[np.ndarray] = []
    variances, rates = spread(mixture, sets, blocks, kept)
    inside = np.concatenate([posteriors(mixture, draws) for draws in blocks]) @ sets.T
    np.testing.assert_allclose(rates, sets @ mixture.weights)
    np.testing.assert_allclose(variances, np.mean((inside - rates) ** 2, axis=0), atol=1e-14)
    assert sum(len(part) for part in kept) == 3000


@pytest.mark.parametrize(("n_draws", "work"), [(64, 2**36), (64, 40_000), (300, 600_000)])
@pytest.mark.parametrize("size", [0.2, 1.5])
def test_the_looks_are_those_of_the_notes(n_draws: int, work: int, size: float) -> None:
    """Every look in double precision, on the same draws; single precision may add its error."""
    generator = np.random.default_rng(0)
    sets = generator.random((90, 16)) < 0.5
    sets = sets[sets.any(axis=1) & ~sets.all(axis=1)]
    weights, gamma = generator.dirichlet(np.full(16, 3.0)), 1e-3
    mixture = GaussianMixture(size * generator.standard_normal((16, 3)), weights)
    draws, share = np.random.default_rng(1), gamma / 3 / len(sets)

    def success(n: int) -> tuple[np.ndarray, np.ndarray]:
        blocks = mixture.draws(n, draws)
        inside = np.concatenate([posteriors(mixture, each) for each in blocks]) @ sets.T
        return inside, np.abs(inside - 0.5)

    def looked(values: np.ndarray) -> np.ndarray:
        sums = values.sum(axis=0), (values**2).sum(axis=0)
        return 0.5 + upper_mean_bounds(*sums, len(values), 0.0, 0.5, share)

    first = max(n_draws, min(4 * n_draws, 2**22 // 16))
    inside, values = success(first)
    rates = sets @ weights
    widest = np.maximum(rates, 1 - rates) ** 2
    level = np.mean((inside - rates) ** 2, axis=0) / widest
    above = widest * chernoff_bounds(np.minimum(level * (1 + 1 / 128), 1.0), first, share)
    bounds = np.minimum(0.5 + np.sqrt((rates - 0.5) ** 2 + above), 1.0)
    probed = np.argsort(bounds)[-64:]
    worst = 0.5 + values[:, probed].mean(axis=0).max()
    bounds[probed] = np.minimum(bounds[probed], looked(values[:, probed]))
    chosen = np.flatnonzero(bounds >= worst)
    rows = int(min(first, max(n_draws // 4, work // (16 * chosen.size))))
    worst = max(worst, 0.5 + values[:rows, chosen].mean(axis=0).max())
    bounds[chosen] = np.minimum(bounds[chosen], looked(values[:rows, chosen]))
    chosen = np.flatnonzero(bounds >= worst)
    cells = min(max(2**24 // 16, 8 * n_draws), work // 2 // (16 * chosen.size))
    again = min(64 * n_draws, max(n_draws, cells))
    if again >= 2 * rows:
        bounds[chosen] = np.minimum(bounds[chosen], looked(success(again)[1][:, chosen]))
    found = screened_success(mixture, sets, n_draws, gamma, np.random.default_rng(1), work)
    assert found == pytest.approx(bounds.max(), abs=3e-3 * (again < 2 * rows) + 2e-4)


def test_units_of_one_pattern_are_one_target() -> None:
    space = SecretSpace.from_subsets([[0, 1, 2], [0, 3], [1, 2, 3]], n_rows=5)
    criterion = MembershipCriterion(space)
    assert criterion.n_targets == 4
    assert criterion.distinct.tolist() == [0, 1, 3]


def test_single_precision_is_paid_for() -> None:
    """Quarters are summed exactly, so that what is added for rounding shows by itself."""
    table = np.eye(4, dtype=np.float32)[np.random.default_rng(0).integers(4, size=600)]
    table = (table + np.float32(0.5) * (table[:, [1, 0, 3, 2]] - table)).astype(np.float32)
    table[:100] = 0.25
    sets = every_set(4)
    values = np.abs(table.astype(np.float64) @ sets.T - 0.5)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    unit = 2.0**-23
    error = (4 + 2 + 256) * unit
    expected = upper_mean_bounds(
        total, squares * (1 + (256 + 2) * unit), 600, 0.0, 0.5 + error, 1e-3
    )
    bounds = np.ones(len(sets))
    worst = _looked_at(sets, np.arange(len(sets)), [table], 600, 1e-3, bounds)
    assert worst == 0.5 + total.max() / 600
    np.testing.assert_allclose(bounds, np.minimum(1.0, expected + 0.5 + error), rtol=1e-13)
