"""Success at sets of candidates in closed form: never below the truth, and how far above."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from pacsklearn.kernel.bounds.mixture import GaussianMixture, posteriors
from pacsklearn.kernel.bounds.overlap import OverlapSuccess, form_bounds


def bounded(mixture: GaussianMixture, sets: np.ndarray) -> np.ndarray:
    return OverlapSuccess(mixture, len(sets)).of(sets)


def every_set(m: int) -> np.ndarray:
    codes = np.arange(1, 2**m - 1)
    return (codes[:, None] >> np.arange(m) & 1).astype(bool)


def exact(signals: np.ndarray, weights: np.ndarray, unit: np.ndarray) -> float:
    def larger(y: float) -> float:
        joint = weights * stats.norm.pdf(y - signals)
        return float(max(joint @ unit, joint @ ~unit))

    near = np.sort(np.concatenate([signals - 9, signals, signals + 9]))
    parts = itertools.pairwise(near)
    return sum(integrate.quad(larger, *part, limit=200, epsabs=1e-9)[0] for part in parts)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("size", [1e-3, 0.3, 1.0, 3.0, 3000.0])
@pytest.mark.parametrize("even", [True, False])
def test_it_is_never_below_the_truth(size: float, even: bool) -> None:
    generator = np.random.default_rng(3)
    signals = size * generator.standard_normal(5)
    weights = np.full(5, 0.2) if even else np.array([0.05, 0.1, 0.2, 0.25, 0.4])
    sets = every_set(5)[::7]
    found = bounded(GaussianMixture(signals[:, None], weights), sets)
    truth = np.array([exact(signals, weights, unit) for unit in sets])
    assert np.all(truth - 1e-8 <= found)
    assert np.all(found <= 1.0)
    if size <= 1.0 and even:
        # Cauchy and Schwarz: the root of the mean square in place of the mean.
        assert np.all(found - 0.5 <= 1.4 * (truth - 0.5) + 0.02)


def test_the_integral_is_that_of_the_notes() -> None:
    """Two candidates: the bound is the root of one integral, taken by quadrature here."""
    signals, weights = np.array([-0.4, 0.8]), np.array([0.5, 0.5])
    width = np.sqrt(1 + 2 * 0.36)

    def integrand(y: float) -> float:
        apart = 0.5 * (stats.norm.pdf(y - signals[0]) - stats.norm.pdf(y - signals[1]))
        return float(apart**2 / stats.norm.pdf(y - 0.2, scale=width))

    root = np.sqrt(integrate.quad(integrand, -12, 12, limit=200, epsabs=1e-12)[0])
    found = bounded(GaussianMixture(signals[:, None], weights), np.array([[True, False]]))
    assert found[0] == pytest.approx(0.5 + root / 2, abs=1e-9)


def test_many_directions_are_close_to_the_mean_square() -> None:
    generator = np.random.default_rng(0)
    signals, sets = 0.04 * generator.standard_normal((64, 30)), generator.random((200, 64)) < 0.5
    mixture = GaussianMixture(signals, np.full(64, 1 / 64))
    blocks = mixture.draws(20_000, generator)
    inside = np.concatenate([posteriors(mixture, draws) for draws in blocks]) @ sets.T
    square = 0.5 + np.sqrt(np.mean((inside - 0.5) ** 2, axis=0))
    found = bounded(mixture, sets)
    assert np.all(found >= 0.5 + np.mean(np.abs(inside - 0.5), axis=0))
    np.testing.assert_allclose(found, square, atol=5e-4)


@pytest.mark.product(only=4)
@pytest.mark.parametrize("far", [1.0, 30.0, 600.0, 1e12, 1e150])
@pytest.mark.parametrize("order", [1, -1])
def test_far_candidates_and_those_of_no_weight(far: float, order: int) -> None:
    """Four near ones and one anywhere: no better than 1, and not spoilt where it stands apart."""
    signals = np.array([0.0, 0.1, -0.1, 0.05, far])[::order]
    weights = np.array([0.22, 0.22, 0.22, 0.22, 0.12])[::order]
    sets = every_set(5)
    found = bounded(GaussianMixture(signals[:, None], weights), sets)
    if far <= 30:
        truth = np.array([exact(signals, weights, unit) for unit in sets[::5]])
        assert np.all(truth - 1e-8 <= found[::5])
    if far >= 600:
        # What is told apart without noise, and the near ones by themselves.
        near = signals != far
        alone = bounded(GaussianMixture(signals[near][:, None], np.full(4, 0.25)), sets[:, near])
        np.testing.assert_allclose(found, 0.12 + 0.88 * alone, atol=1e-9)
    none = GaussianMixture(
        np.append(signals, np.nan)[:, None], np.append(weights, 0.0)
    )  # impossible: no matter where
    wider = np.column_stack([sets, ~sets[:, 0]])
    np.testing.assert_allclose(bounded(none, wider), found, atol=1e-12)


@pytest.mark.parametrize("size", [1e-3, 0.04, 0.3, 5.0])
def test_many_sets_are_bounded_a_little_farther_out(size: float) -> None:
    """In single precision: never closer than in doubles."""
    generator = np.random.default_rng(1)
    signals = size * generator.standard_normal((32, 5)) * [1, 1, 0.1, 0.01, 1e-3]
    mixture, sets = GaussianMixture(signals, np.full(32, 1 / 32)), generator.random((600, 32)) < 0.5
    sets[:300] = [generator.permutation(32) < 16 for _ in range(300)]
    few = np.concatenate([bounded(mixture, part) for part in np.split(sets, 3)])
    many = bounded(mixture, sets)
    assert np.all(many >= few - 1e-9)
    np.testing.assert_allclose(many - 0.5, few - 0.5, rtol=3e-3, atol=2e-4)


@pytest.mark.parametrize(
    ("m", "k", "size"),
    [
        (128, 6, 0.3),
        (128, 6, 0.04),
        (300, 40, 0.04),
        (300, 12, 1e-4),
        (64, 1, 1e-3),
        (40, 9, 0.1),
        (30, 9, 0.1),
    ],
)
def test_sets_that_are_not_the_worst_are_bounded_farther_out(m: int, k: int, size: float) -> None:
    """Never closer than in doubles, and where it matters as close."""
    generator = np.random.default_rng(m + k)
    weights = generator.dirichlet(np.full(m, 20.0))
    signals = size * generator.standard_normal((m, k))
    mixture = GaussianMixture(signals, weights)
    sets = generator.permuted(np.tile(np.arange(m), (4000, 1)), axis=1) < m // 2
    sets[:1000] = generator.random((1000, m)) < 0.3
    # In each direction there is the set that is changed most where that direction is left out.
    sets[1000 : 1000 + m] = np.linalg.eigh(np.expm1(signals @ signals.T))[1].T > 0
    exact, success = OverlapSuccess(mixture, 1).of(sets), OverlapSuccess(mixture, len(sets))
    least = float(np.quantile(success.of(sets), 0.99))
    found = success.screen(least)(sets)
    assert np.all(found >= exact)
    high = found > least
    np.testing.assert_allclose(found[high] - 0.5, exact[high] - 0.5, rtol=3e-3, atol=2e-4)
    assert found.max() == pytest.approx(success.of(sets).max(), abs=1e-7)
    if (m, k) == (128, 6):
        assert np.count_nonzero(found != success.of(sets)) > 3600


def test_where_some_have_no_weight_or_are_far_all_are_bounded_closely() -> None:
    generator = np.random.default_rng(0)
    signals, sets = 0.04 * generator.standard_normal((64, 2)), generator.random((900, 64)) < 0.5
    for weights, far in ((np.append(np.full(63, 1 / 63), 0.0), 0.0), (np.full(64, 1 / 64), 1e6)):
        signals[0] = far
        success = OverlapSuccess(GaussianMixture(signals, weights), len(sets))
        assert np.array_equal(success.screen(0.9)(sets), success.of(sets))


@pytest.mark.product(only=6)
@pytest.mark.parametrize("m", [1, 128, 300])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("n_sets", [1, 10**6])
def test_a_form_is_never_seen_as_less(m: int, signed: bool, n_sets: int) -> None:
    """Also one whose sums cancel, which single precision sees worst; against whole numbers."""
    generator = np.random.default_rng(2)
    whole = generator.integers(-(2**20), 2**20, size=(m, m))
    whole += whole.T  # 22 bits, so that sums of them are rounded in single precision alone
    sets = generator.random((1200, m)) < 0.5
    vectors = np.where(sets, 1, -1 if signed else 0)
    exact = np.einsum("ti,ij,tj->t", vectors, whole, vectors, optimize=True)
    found = form_bounds(whole.astype(float), sets, signed=signed, n_sets=n_sets)
    sizes = np.abs(whole).sum()
    assert np.all(found >= exact)
    assert np.all(found <= exact + (1e-12 if n_sets == 1 else 4e-5) * sizes)
