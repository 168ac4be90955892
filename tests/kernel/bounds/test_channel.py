"""Mutual information of finite channels against exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from pacsklearn.padding.least_padding import channel_information

getcontext().prec = 60


def exact(p, rows):
    """The textbook sum in 60 digits; every double is taken as the number it is."""
    p = [Decimal(float(x)) for x in p]
    rows = [[Decimal(float(x)) for x in row] for row in rows]
    overall = [sum(w * row[j] for w, row in zip(p, rows, strict=True)) for j in range(len(rows[0]))]
    return sum(
        w * x * (x / overall[j]).ln()
        for w, row in zip(p, rows, strict=True)
        for j, x in enumerate(row)
        if x > 0 and w > 0
    )


@pytest.mark.parametrize("closeness", [0.0, 0.9, 1 - 1e-5, 1 - 1e-9])
def test_against_60_digits(closeness):
    rng = np.random.default_rng(5)
    p = np.array([0.5, 0.25, 0.125, 0.125])
    common = rng.dirichlet(np.ones(6))
    for _ in range(20):
        rows = closeness * common + (1 - closeness) * rng.dirichlet(np.full(6, 0.3), 4)
        rows = np.rint(rows * 2**52) / 2**52
        rows[:, -1] = 1 - rows[:, :-1].sum(axis=1)
        found = channel_information(p, np.maximum(rows, 0))
        truth = float(exact(p, np.maximum(rows, 0)))
        assert truth <= found <= truth * (1 + 1e-6) + 1e-30
        assert found == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("size", [1e-6, 3e-4, 9.9e-4, 1.01e-3, 0.02, 0.49, 0.51])
@pytest.mark.parametrize("sign", [-1, 1])
def test_to_the_last_digits_on_both_sides_of_every_branch(size, sign):
    """One output whose chance differs by this share, one that is hardly touched."""
    p, chance = [1 - 2**-10, 2**-10], 1e-3
    moved = chance * (1 + sign * size)
    rows = np.array([[chance, 1 - chance], [moved, 1 - moved]])
    rows = np.rint(rows * 2**52) / 2**52
    rows[:, 1] = 1 - rows[:, 0]
    truth = float(exact(p, rows))
    assert truth <= channel_information(p, rows) <= truth * (1 + 3e-12)


def test_noiseless_and_useless_channels():
    p = np.array([0.7, 0.2, 0.1])
    assert channel_information(p, np.eye(3)) == pytest.approx(-np.sum(p * np.log(p)))
    assert channel_information(p, np.tile([0.3, 0.7], (3, 1))) == 0.0
    third = np.full((3, 3), 1 / 3)
    assert channel_information(p, third) == 0.0


def test_binary_symmetric_channel():
    flip = 0.11
    rows = [[1 - flip, flip], [flip, 1 - flip]]
    truth = math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)
    assert channel_information([0.5, 0.5], rows) == pytest.approx(truth, rel=1e-12)


def test_impossible_inputs_and_tiny_numbers():
    assert channel_information([1.0, 0.0], np.eye(2)) == 0.0
    rows = np.array([[1.0, 0.0], [1.0 - 1e-300, 1e-300]])
    assert 0.0 <= channel_information([0.5, 0.5], rows) < 1e-290
    assert math.isfinite(channel_information([1 - 1e-13, 1e-13], [[1.0, 5e-324], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("weights", "rows", "message"),
    [
        ([1.0], [[0.5, 0.5], [0.5, 0.5]], "one row for each"),
        ([0.5, 0.4], [[0.5, 0.5], [0.5, 0.5]], "sum to one"),
        ([0.5, 0.5], [[0.5, 0.6], [0.5, 0.5]], "sum to one"),
        ([0.5, 0.5], [[1.5, -0.5], [0.5, 0.5]], ">= 0"),
    ],
)
def test_arguments(weights, rows, message):
    with pytest.raises(ValueError, match=message):
        channel_information(weights, rows)
