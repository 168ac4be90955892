"""Noise kept out of directions that a task needs."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_papers.residual import ResidualBackend

from pacsklearn.canonical.protecting_metric import ProtectingMetric
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.universe.metrics import DiagonalMetric


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


@pytest.mark.soak
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
    [
        (np.zeros((1, 3)), 1.0),
        ([[np.nan, 1]], 1.0),
        ([[np.inf, 1]], 1.0),
        (np.empty((0, 3)), 1.0),
        (np.ones((1, 2, 3)), 1.0),
        *(([[1.0]], weight) for weight in (-1.0, 0, np.inf, np.nan)),
    ],
)
def test_bad_arguments(directions: object, weight: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        ProtectingMetric(directions, weight=weight)  # type: ignore[arg-type]
    for length in (1, 3):
        with pytest.raises(
            ValueError, match=f"of length 2, the released vector has {length} numbers"
        ):
            ProtectingMetric([[1.0, 0.0]]).root(np.zeros((2, length)))


def test_one_direction_may_be_a_vector_and_the_weight_has_a_default() -> None:
    root = ProtectingMetric([0.0, 3.0]).root(np.eye(2))
    np.testing.assert_allclose(root @ root.T, np.diag([1.0, 1.0 + 1e4]))


def test_directions_that_follow_from_others_but_for_rounding_are_none() -> None:
    directions = np.random.default_rng(0).standard_normal((2, 5))
    both = np.vstack([directions, directions[0] * 3 + directions[1] / 7])
    assert ProtectingMetric(both).root(np.eye(5)).shape == (5, 5 + 2)
    apart = np.vstack([directions, directions[0] * (1 + 1e-9 * np.arange(5))])
    assert ProtectingMetric(apart).root(np.eye(5)).shape == (5, 5 + 3)
