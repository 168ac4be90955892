"""The least padding against brute force and a general-purpose optimiser."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom

from pacsklearn.padding.least_padding import (
    RESOLUTION,
    _check,
    _entropy,
    _levels,
    _rational,
    bucket_padding,
    channel_information,
    least_padding,
)

BITS = (np.arange(9) * 40 + 100, binom.pmf(np.arange(9), 8, 0.5))


def is_sound(padding, weights, budget):
    shares = padding.counts / RESOLUTION
    assert np.all(padding.counts >= 0)
    assert np.all(padding.counts.sum(axis=1) == RESOLUTION)
    gap = padding.levels[None, :] - padding.values[:, None]
    assert np.all(padding.counts[gap < 0] == 0), "a value was made smaller"
    assert padding.information == pytest.approx(channel_information(weights, shares), rel=1e-13)
    assert padding.information <= budget
    assert padding.expected == pytest.approx(weights @ (shares * gap).sum(axis=1))
    assert padding.mean_square == pytest.approx(weights @ (shares * gap**2).sum(axis=1))


def slsqp(z, p, budget, seed):
    """Smallest mean padding that a general optimiser finds from several starts."""
    n = z.size
    inside = np.triu(np.ones((n, n), dtype=bool))
    gap = z[None, :] - z[:, None]

    def full(x):
        rows = np.zeros((n, n))
        rows[inside] = x
        return rows

    def information(x):
        rows = full(x)
        overall = p @ rows
        used = rows > 0
        ratio = np.where(used, rows, 1) / np.where(used, overall, 1)
        return float(p @ (rows * np.log(ratio)).sum(axis=1))

    best = np.inf
    for start in np.random.default_rng(seed).random((4, int(inside.sum()))):
        rows = full(start)
        found = minimize(
            lambda x: float(p @ (full(x) * gap).sum(axis=1)),
            (rows / rows.sum(axis=1, keepdims=True))[inside],
            method="SLSQP",
            bounds=[(0, 1)] * int(inside.sum()),
            constraints=[
                {"type": "eq", "fun": lambda x: full(x).sum(axis=1) - 1},
                {"type": "ineq", "fun": lambda x: budget - information(x)},
            ],
            options={"maxiter": 400, "ftol": 1e-12},
        )
        if found.success and information(found.x) <= budget + 1e-8:
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("budget", [1e-9, 1 / 64, 0.25, 1.0, 1.5, 3.0])
def test_sound_and_better_than_buckets(budget):
    z, p = BITS
    least, buckets = least_padding(z, p, budget), bucket_padding(z, p, budget)
    is_sound(least, p, budget)
    is_sound(buckets, p, budget)
    assert least.expected <= buckets.expected <= z[-1] - p @ z + 1e-9
    if budget < 1.7:
        assert least.method == "rate-distortion"
        assert least.information >= 0.98 * budget
    else:
        assert (least.method, least.expected) == ("none", 0.0)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("budget", [0.01, 0.1, 0.5, 0.8])
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
def test_as_good_as_a_general_optimiser(budget):
    rng = np.random.default_rng(1)
    z, p = np.sort(rng.choice(30, 4, replace=False)), rng.dirichlet(np.full(4, 2.0))
    truth = slsqp(z, p, budget, seed=3)
    assert least_padding(z, p, budget).expected == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("budget", [0.2, 0.5, 0.9, 1.3])
def test_buckets_against_all_bucketings(budget):
    rng = np.random.default_rng(2)
    z, p = np.sort(rng.choice(100, 7, replace=False)), rng.dirichlet(np.full(7, 2.0))
    points = []
    for cuts in itertools.product([False, True], repeat=6):
        labels = np.concatenate([[0], np.cumsum(cuts)])
        mass = np.bincount(labels, weights=p)
        tops = np.array([z[labels == label].max() for label in range(mass.size)])
        points.append((-np.sum(mass * np.log(mass)), float(p @ (tops[labels] - z))))
    found = bucket_padding(z, p, budget)
    assert (found.information, found.expected) in [
        (pytest.approx(h), pytest.approx(cost)) for h, cost in points
    ]
    # The cheapest within the budget of those that are best at some price of information.
    prices = np.geomspace(1e-2, 1e4, 4000)
    hull = {min(points, key=lambda point: point[1] + price * point[0]) for price in prices}
    affordable = [cost for h, cost in hull if h <= budget]
    assert found.expected == pytest.approx(min(affordable))
    # On the lower convex hull: no mixture of two other bucketings beats it at its information.
    below = [(h, c) for h, c in points if h <= found.information + 1e-12]
    above = [(h, c) for h, c in points if h > found.information + 1e-12]
    assert found.expected <= min(c for _, c in below) + 1e-9
    for (h1, c1), (h2, c2) in itertools.product(below, above):
        share = (found.information - h1) / (h2 - h1)
        assert found.expected <= (1 - share) * c1 + share * c2 + 1e-9


def test_more_budget_never_costs_more():
    z, p = BITS
    costs = [least_padding(z, p, budget).expected for budget in np.linspace(0.01, 1.7, 12)]
    assert np.all(np.diff(costs) < 0)


def test_one_value_and_impossible_values():
    assert least_padding([7], [1.0], 0.1).expected == 0.0
    assert bucket_padding([7], [1.0], 0.1).expected == 0.0
    padding = least_padding([1, 2, 3, 4], [0.5, 0.5, 0.0, 0.0], 0.1)
    is_sound(padding, np.array([0.5, 0.5, 0.0, 0.0]), 0.1)
    assert padding.expected <= 0.5
    padding = least_padding([1, 2, 3], [0.5, 0.5 - 1e-200, 1e-200], 0.1)
    assert padding.information <= 0.1


def test_many_values_are_thinned_out():
    rng = np.random.default_rng(4)
    z = np.unique(rng.integers(0, 10**6, 400))
    p = rng.dirichlet(np.ones(z.size))
    padding = least_padding(z, p, 0.5)
    is_sound(padding, p, 0.5)
    assert padding.levels.size <= 257
    assert padding.expected < bucket_padding(z, p, 0.5).expected


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([1, 1], [0.5, 0.5], "distinct"),
        ([1.5, 2.0], [0.5, 0.5], "vector"),
        ([1, 2], [0.5, 0.6], "sum to one"),
        ([1, 2], [1.0], "probability"),
        ([1, 2**61], [0.5, 0.5], "below"),
        ([-(2**61), 1], [0.5, 0.5], "below"),
        ([1, 2], [0.5, 0.5 + 2e-9], "sum to one"),
        ([1, 2], [1.5, -0.5], "probability"),
        ([1, 2], [math.nan, 0.5], "probability"),
        (np.empty(0, int), [], "vector"),
        ([[1, 2]], [[0.5, 0.5]], "vector"),
    ],
)
def test_arguments(values, weights, message):
    with pytest.raises(ValueError, match=message):
        least_padding(values, weights, 0.1)


def least_possible(z, p, padding):
    """Lower bound of the mean padding of any map with this information (Blahut, 1972).

    For every price of information and every positive vector whose sum against the kernel is at
    most 1 at each level: the dual of the convex problem.
    """
    kernel_of = (z[None, :] - z[:, None]).astype(float)
    overall = p @ (padding.counts / RESOLUTION)
    places = np.searchsorted(z, padding.levels)

    def bound(log_price):
        rate = math.exp(log_price)
        kernel = np.where(kernel_of >= 0, np.exp(-np.abs(kernel_of) / rate), 0.0)
        ratios = 1 / np.maximum(kernel[:, places] @ overall, 1e-100)
        ratios /= np.max((p * ratios) @ kernel)
        return rate * float(p @ np.log(ratios) - padding.information)

    span = math.log(float(z[-1] - z[0]))
    tries = np.linspace(span - 12, span + 12, 97)
    best = tries[np.argmax([bound(each) for each in tries])]
    found = minimize_scalar(
        lambda each: -bound(each), bounds=(best - 0.5, best + 0.5), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return -float(found.fun)


@pytest.mark.product(only=8)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [1e-3, 0.05, 0.3, 0.9])
def test_no_map_pads_less(seed, budget):
    rng = np.random.default_rng(seed)
    n = [2, 3, 5, 9, 20, 60][seed]
    z, p = np.sort(rng.choice(10 * n, n, replace=False)) - 3, rng.dirichlet(np.full(n, 2.0))
    padding = least_padding(z, p, budget)
    if padding.method == "none":
        assert budget >= -p @ np.log(p)
        return
    least = least_possible(z, p, padding)
    assert least * (1 - 1e-9) <= padding.expected <= least * (1 + 1e-5)
    assert budget * (1 - 1e-4) <= padding.information <= budget


@pytest.mark.product(only=3)
@pytest.mark.parametrize("seed", range(5))
def test_buckets_are_the_cheapest_of_the_hull(seed):
    """Vertices of the lower hull of all bucketings, by walking along it."""
    rng = np.random.default_rng(seed)
    z, p = np.sort(rng.choice(90, 6, replace=False)) - 40, rng.dirichlet(np.full(6, 1.0))
    points = []
    for cuts in itertools.product([False, True], repeat=5):
        labels = np.concatenate([[0], np.cumsum(cuts)])
        mass = np.bincount(labels, weights=p)
        tops = np.array([z[labels == label].max() for label in range(mass.size)])
        points.append((float(-mass @ np.log(mass)), float(p @ (tops[labels] - z))))
    vertex, hull = min(points), []
    while True:
        hull.append(vertex)
        farther = [point for point in points if point[0] > vertex[0] and point[1] < vertex[1]]
        if not farther:
            break
        h, cost = vertex
        vertex = min(farther, key=lambda point: ((point[1] - cost) / (point[0] - h), -point[0]))
    before = hull[0][1]
    for h, cost in hull:
        for budget, wanted in ((max(h, 0.0) * (1 - 1e-9), before), (abs(h) * (1 + 1e-9), cost)):
            found = bucket_padding(z, p, budget)
            assert found.expected == pytest.approx(wanted, rel=1e-9, abs=1e-12)
            assert found.information <= budget
        before = cost


def test_probabilities_are_rounded_down_and_the_rest_goes_to_the_top():
    shares = np.random.default_rng(0).dirichlet(np.ones(5), 7)
    counts = _rational(shares)
    for row, found in zip(shares, counts, strict=True):
        low = [math.floor(Fraction(float(share)) * 2**52) for share in row[:-1]]
        assert found.tolist() == [*low, 2**52 - sum(low)]


def test_entropy_leaves_out_what_never_happens():
    assert _entropy(np.array([0.5, 0.25, 0.0, 0.25])) == pytest.approx(1.5 * math.log(2), rel=1e-15)
    # A budget of exactly that entropy needs no padding.
    assert least_padding([1, 2], [0.5, 0.5], math.log(2)).method == "none"
    assert least_padding([1, 2], [0.5, 0.5], math.log(2) * (1 - 1e-9)).method != "none"


def test_levels_are_spread_over_the_values_and_over_the_mass():
    rng = np.random.default_rng(5)
    z = np.cumsum(rng.integers(1, 2000, 900))
    p = rng.dirichlet(np.full(900, 0.2))
    assert _levels(z[:256], p[:256]).tolist() == z[:256].tolist()
    assert _levels(z[:257], p[:257]).size < 257
    levels = _levels(z, p)
    assert 200 < levels.size <= 256
    assert np.all(np.diff(levels) > 0)
    assert (levels[0], levels[-1]) == (z[0], z[-1])
    wanted = {z[-1]}
    for i in range(128):
        wanted.add(min(z[z >= z[0] + Fraction(int(z[-1] - z[0]) * i, 127)]))
        wanted.add(z[min(np.flatnonzero(np.cumsum(p) >= i / 127), default=899)])
    assert set(levels) == wanted


def test_values_and_weights_are_sorted_together():
    z, p = _check([5, -2, 9], [0.2, 0.3, 0.5])
    assert (z.tolist(), p.tolist(), z.dtype) == ([-2, 5, 9], [0.3, 0.2, 0.5], np.int64)
    assert _check([1, 2], [0.5, 0.5 + 9e-10])[1].sum() == pytest.approx(1, abs=1e-15)
    assert _check([2**61 - 1, 1 - 2**61], [0.5, 0.5])[0].tolist() == [1 - 2**61, 2**61 - 1]
