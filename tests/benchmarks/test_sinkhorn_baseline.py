from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks.baselines.sinkhorn_baseline import sinkhorn_distance
from pacsklearn.srpp.divergence.world_distances import bottleneck_distance


@pytest.fixture
def samples():
    generator = np.random.default_rng(0)
    return generator.normal(size=(25, 2)), generator.normal(size=(25, 2)) + 1.0


@pytest.mark.soak
def test_with_all_distances_and_a_small_penalty_it_is_near_the_distance(samples):
    pytest.importorskip("ot")
    exact = bottleneck_distance(*samples)
    distances = np.linalg.norm(samples[0][:, None] - samples[1][None], axis=2).ravel()
    found = sinkhorn_distance(
        *samples, regularization=1e-6, thresholds=np.sort(distances)[::25], n_iterations=5_000
    )
    assert exact * 0.999 <= found <= exact * 1.3


def test_the_penalty_adds_up(samples):
    pytest.importorskip("ot")
    small, large = (
        sinkhorn_distance(*samples, regularization=penalty, n_iterations=100)
        for penalty in (1e-3, 0.3)
    )
    assert small <= large


def test_without_pot(samples, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(ImportError, match=r"\[transport\]"):
        sinkhorn_distance(*samples)
