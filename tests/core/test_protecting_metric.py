"""Noise kept out of directions that a task needs."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.core.metric import DiagonalMetric, IdentityMetric
from pacsklearn.core.protecting_metric import ProtectingMetric
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.noise.residual import ResidualBackend


def test_cost_is_the_sum_of_both() -> None:
    rows = np.random.default_rng(0).standard_normal((5, 3))
    directions = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    metric = ProtectingMetric(
        directions, metric=DiagonalMetric(np.array([1.0, 2.0, 3.0])), weight=7
    )
    along = rows @ [1, 1, 0] / np.sqrt(2)
    expected = rows**2 @ [1, 2, 3] + 7 * along**2
    np.testing.assert_allclose(np.sum(metric.root(rows) ** 2, axis=1), expected)


def labels_and_noise() -> np.ndarray:
    """A label that is one of two values, and three coordinates that name the candidate."""
    generator = np.random.default_rng(0)
    label = np.repeat([-1.0, 1.0], 16)
    return np.column_stack([label, generator.standard_normal((32, 3))])


def test_a_budget_that_covers_the_label_keeps_it() -> None:
    """residual-pac, Proposition 7: noise stays out of the label as long as the budget allows."""
    support = Support(labels_and_noise())
    metric = ProtectingMetric([[1.0, 0.0, 0.0, 0.0]])
    backend = ResidualBackend(n_draws=4096, n_certificate=2**15)

    def flips(law) -> float:
        noise = np.random.default_rng(1).standard_normal((4000, law.dimension)) * law.scale
        shift = (noise * law.step) @ law.axes[:, 0]
        return float(np.mean(shift > 1.0))

    enough = backend.calibrate(support, Target(1.0), metric)
    assert flips(enough) < 0.01
    too_little = backend.calibrate(support, Target(0.3), metric)
    assert flips(too_little) > 0.05
    # Without protection labels are lost at the same budget.
    assert flips(backend.calibrate(support, Target(1.0), IdentityMetric())) > 0.02


@pytest.mark.parametrize(
    ("directions", "weight"),
    [(np.zeros((1, 3)), 1.0), ([[np.nan, 1]], 1.0), (np.empty((0, 3)), 1.0), ([[1.0]], -1.0)],
)
def test_bad_arguments(directions: object, weight: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        ProtectingMetric(directions, weight=weight)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="have 2 coordinates, the released vector has 3"):
        ProtectingMetric([[1.0, 0.0]]).root(np.zeros((2, 3)))
