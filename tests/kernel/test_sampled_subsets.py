"""What may be asked of a secret that is drawn from all subsets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone

from pacsklearn.sampled.sampled_subsets import PoissonSubsets, SampledSubsets


def test_what_a_fit_keeps_is_a_checked_copy() -> None:
    own = SampledSubsets(2, 2, gamma=0.5, guard=1, time_limit=1e-3)
    kept = own.sizes
    own.set_params(gamma=0.9)
    assert (kept.gamma, own.gamma) == (0.5, 0.9)
    assert clone(own) == own


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_calibration", (1, 0, -5, 2.5)),
        ("n_certificate", (1, 0, -5, 2.5)),
        ("gamma", (0, 1, -0.1, 1.5, math.nan, "small", None, True)),
        ("guard", (0.999, 0, -2, math.nan, "wide", None)),
        ("time_limit", (0, -1.0, math.nan, "long", True)),
    ],
)
def test_an_argument_out_of_range_is_named(name: str, values: tuple[object, ...]) -> None:
    for value in values:
        with pytest.raises((TypeError, ValueError), match=f"{name} must be .*{value!r}"):
            _ = SampledSubsets(**{name: value}).sizes


def test_independent_rows_have_their_rate():
    draw, rng = PoissonSubsets(6, rate=0.3), np.random.default_rng(0)
    members = np.zeros((20_000, 6))
    for row in members:
        row[draw(rng)] = 1
    assert members.mean(axis=0) == pytest.approx(np.full(6, 0.3), abs=0.02)
    assert np.abs(np.corrcoef(members.T) - np.eye(6)).max() < 0.04


def test_independent_rows_are_reproducible_and_sorted():
    first, second = (PoissonSubsets(50)(np.random.default_rng(3)) for _ in range(2))
    assert first.tolist() == second.tolist() == sorted(first.tolist())


@pytest.mark.parametrize(("n", "rate"), [(0, 0.5), (10, 0.0), (10, 1.0), (1.5, 0.5)])
def test_arguments_of_independent_rows(n, rate):
    with pytest.raises(ValueError, match=r"n must be|rate must be"):
        PoissonSubsets(n, rate)
