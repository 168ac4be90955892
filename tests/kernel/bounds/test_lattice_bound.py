"""Bounds for integer centres, against mutual information summed over the integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.lattice_bound import linear_bound, logdet_bound, span_coordinates

SIGMA = 2**10
Bound = Callable[[ArrayLike, ArrayLike, int], float]


def discrete_gaussian(points: NDArray[np.int64], sigma: int) -> NDArray[np.float64]:
    window = np.arange(-40 * sigma, 40 * sigma + 1)
    normaliser = math.fsum(np.exp(-(window**2) / (2 * sigma**2)))
    return np.asarray(np.exp(-(points**2) / (2 * sigma**2)) / normaliser)


def exact_information(centres: list[int], weights: list[float], sigma: int) -> float:
    """I(s; W) for one coordinate, by summation over the integers that matter."""
    points = np.arange(min(centres) - 12 * sigma, max(centres) + 12 * sigma + 1)
    laws = np.array([discrete_gaussian(points - z, sigma) for z in centres])
    p = np.array(weights)[:, None]
    mixture = np.sum(p * laws, axis=0)
    terms = np.where(laws > 0, p * laws * np.log(np.maximum(laws, 1e-320) / mixture), 0.0)
    return math.fsum(terms.ravel())


@pytest.mark.product(only=8)
@pytest.mark.parametrize("bound", [linear_bound, logdet_bound])
@pytest.mark.parametrize(
    ("centres", "weights"),
    [
        ([0, 1], [0.5, 0.5]),
        ([0, 10], [0.5, 0.5]),
        ([0, 333], [0.9, 0.1]),
        ([-1024, 1024], [0.5, 0.5]),
        ([0, 5000], [0.999, 0.001]),
        ([0, 20_000], [0.25, 0.75]),
        ([-7, 0, 11], [0.2, 0.5, 0.3]),
        ([-900, 100, 2000], [1 / 3, 1 / 3, 1 / 3]),
        ([10**12, 10**12 + 300, 10**12 - 500], [0.6, 0.3, 0.1]),
    ],
)
def test_bounds_the_exact_mutual_information(
    bound: Bound, centres: list[int], weights: list[float]
) -> None:
    offset = centres[0]
    exact = exact_information([z - offset for z in centres], weights, SIGMA)
    bounded = bound(np.array(centres)[:, None], weights, SIGMA)
    assert bounded >= exact - 1e-15
    if np.ptp(centres) < SIGMA and np.ptp(centres) > 100:
        assert bounded <= 1.4 * exact + 1e-6


def test_bounds_a_vector_release() -> None:
    # Two coordinates move together, so the information is that of one shift of length 5.
    centres = np.array([[0, 0], [300, 400]])
    exact = exact_information([0, 500], [0.5, 0.5], SIGMA)
    assert linear_bound(centres, [0.5, 0.5], SIGMA) >= exact
    assert logdet_bound(centres, [0.5, 0.5], SIGMA) >= exact


@given(data=st.data(), m=st.integers(1, 6), k=st.integers(1, 4))
def test_linear_bound_is_above_the_exact_fraction(data: Any, m: int, k: int) -> None:
    entries = st.integers(-(2**40), 2**40)
    z = [[data.draw(entries) for _ in range(k)] for _ in range(m)]
    raw = [data.draw(st.integers(1, 1000)) for _ in range(m)]
    weights = [Fraction(value, sum(raw)) for value in raw]
    exact = Fraction(0)
    for i in range(k):
        mean = sum(p * row[i] for p, row in zip(weights, z, strict=True))
        squares = [p * (row[i] - round(mean)) ** 2 for p, row in zip(weights, z, strict=True)]
        exact += sum(squares) / (2 * SIGMA**2)
    bound = linear_bound(np.array(z, dtype=np.int64), [float(p) for p in weights], SIGMA)
    assert Fraction(bound) >= exact
    assert bound == pytest.approx(float(exact), rel=1e-11)


@given(data=st.data(), m=st.integers(2, 6))
def test_logdet_bound_is_above_the_exact_variance(data: Any, m: int) -> None:
    z = [data.draw(st.integers(-(2**40), 2**40)) for _ in range(m)]
    raw = [data.draw(st.integers(1, 1000)) for _ in range(m)]
    weights = [Fraction(value, sum(raw)) for value in raw]
    mean = sum(p * value for p, value in zip(weights, z, strict=True))
    variance = sum(p * (value - mean) ** 2 for p, value in zip(weights, z, strict=True))
    bound = logdet_bound(np.array(z)[:, None], [float(p) for p in weights], SIGMA)
    if len(set(z)) == 1:
        assert bound == 0.0
    else:
        exact = 0.5 * math.log1p((variance + Fraction(1, 12)) / SIGMA**2)
        assert bound >= exact
        assert bound == pytest.approx(exact, rel=1e-11)


def test_continuous_formulas_at_the_scale_of_the_lattice() -> None:
    sigma, m, k = 2**20, 128, 20
    coordinates = np.random.default_rng(0).normal(size=(m, k)) * sigma / 4
    z = np.rint(coordinates).astype(np.int64)
    weights = np.full(m, 1 / m)
    variances = z.var(axis=0)
    linear = np.sum(variances) / (2 * sigma**2)
    logdet = 0.5 * np.sum(np.log1p(variances / sigma**2))
    assert linear_bound(z, weights, sigma) == pytest.approx(linear, abs=1e-11)
    assert logdet_bound(z, weights, sigma) == pytest.approx(logdet, abs=1e-11)
    assert logdet_bound(z, weights, sigma) < linear_bound(z, weights, sigma)


@pytest.mark.parametrize("bound", [linear_bound, logdet_bound])
def test_costs_nothing_when_the_possible_candidates_agree(bound: Bound) -> None:
    agree = np.array([[7, -(2**60)], [7, -(2**60)], [9, 3]])
    assert bound(agree, [0.3, 0.7, 0.0], SIGMA) == 0.0
    assert bound(agree[:, :0], [0.3, 0.7, 0.0], SIGMA) == 0.0
    assert bound(agree, [0.3, 0.6, 0.1], SIGMA) > 0.0


@pytest.mark.parametrize("bound", [linear_bound, logdet_bound])
def test_blind_to_a_common_shift_even_of_2_to_the_60(bound: Bound) -> None:
    z = np.random.default_rng(1).integers(-5000, 5000, size=(16, 3))
    weights = np.full(16, 1 / 16)
    assert bound(z + 2**60, weights, SIGMA) == pytest.approx(bound(z, weights, SIGMA), rel=1e-12)


@pytest.mark.parametrize("bound", [linear_bound, logdet_bound])
def test_a_nearly_certain_belief_pays_for_the_doubt_that_is_left(bound: Bound) -> None:
    doubt = 1e-30
    cost = bound(np.array([[0], [SIGMA]]), [1.0 - doubt, doubt], SIGMA)
    assert 0.4 * doubt < cost < 1e-7


@pytest.mark.parametrize("bound", [linear_bound, logdet_bound])
def test_errors(bound: Bound) -> None:
    good = np.array([[0], [1]])
    with pytest.raises(ValueError, match="sigma"):
        bound(good, [0.5, 0.5], 1000)
    with pytest.raises(TypeError, match="signed"):
        bound(good.astype(float), [0.5, 0.5], SIGMA)
    with pytest.raises(ValueError, match="shape"):
        bound([0, 1], [0.5, 0.5], SIGMA)
    with pytest.raises(ValueError, match="entry"):
        bound(good, [1.0], SIGMA)
    with pytest.raises(ValueError, match="sum to one"):
        bound(good, [0.5, 0.4], SIGMA)
    with pytest.raises(ValueError, match="sum to one"):
        bound(good, [1.5, -0.5], SIGMA)
    with pytest.raises(ValueError, match="sum to one"):
        bound(good, [np.nan, 1.0], SIGMA)
    with pytest.raises(ValueError, match="coarser"):
        bound(good * 2**61, [0.5, 0.5], SIGMA)


@pytest.mark.parametrize("d", [2, 3, 9])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_axes_are_those_of_the_weighted_covariance(d: int, scale: float) -> None:
    """At every scale of the rows; an impossible row lies where its projection is."""
    generator = np.random.default_rng(d)
    weights = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    rows = generator.normal(size=(5, d)) * np.array([1.0, 1e-4, *[0.01] * (d - 2)])
    rows = scale * (rows - weights @ rows)
    span = span_coordinates(rows, weights)
    k = min(3, d)
    covariance = (rows.T * weights) @ rows
    expected = np.linalg.eigvalsh(covariance / scale**2)[::-1]
    assert span.variances.shape == (k,)
    np.testing.assert_allclose(span.variances / scale**2, expected[:k], rtol=1e-6, atol=1e-15)
    axes = span.mixing @ rows
    np.testing.assert_allclose(axes @ axes.T, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(span.coordinates, rows @ axes.T, rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(
        (span.coordinates.T * weights) @ span.coordinates / scale**2,
        np.diag(span.variances / scale**2),
        atol=1e-14,
    )


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_rounding_is_no_axis(scale: float) -> None:
    weights = np.full(6, 1 / 6)
    along = np.random.default_rng(0).normal(size=6)
    rows = scale * np.outer(along - along.mean(), [0.3, -0.7, 1.1])
    assert span_coordinates(rows, weights).variances.shape == (1,)
    assert span_coordinates(0.0 * rows, weights).variances.shape == (0,)


def test_axes_as_small_as_rounding_of_the_largest_are_dropped() -> None:
    """Of four points in the plane: at most four machine epsilons of it."""
    epsilon, weights = np.finfo(np.float64).eps, np.full(4, 0.25)
    for share, kept in ((3.9, 1), (4.1, 2)):
        small = share * epsilon
        rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, small], [0.0, -small]])
        assert span_coordinates(rows, weights).variances.size == kept
