"""Independent row subsets."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn import PoissonSubsets


def test_rate_and_independence():
    draw, rng = PoissonSubsets(6, rate=0.3), np.random.default_rng(0)
    members = np.zeros((20_000, 6))
    for row in members:
        row[draw(rng)] = 1
    assert members.mean(axis=0) == pytest.approx(np.full(6, 0.3), abs=0.02)
    assert np.abs(np.corrcoef(members.T) - np.eye(6)).max() < 0.04


def test_reproducible_and_sorted():
    first, second = (PoissonSubsets(50)(np.random.default_rng(3)) for _ in range(2))
    assert first.tolist() == second.tolist() == sorted(first.tolist())


@pytest.mark.parametrize(("n", "rate"), [(0, 0.5), (10, 0.0), (10, 1.0), (1.5, 0.5)])
def test_arguments(n, rate):
    with pytest.raises(ValueError, match=r"n must be|rate must be"):
        PoissonSubsets(n, rate)
