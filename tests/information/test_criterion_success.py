"""Success at many targets, and the shape that hides directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, stats

from pacsklearn import SecretSpace
from pacsklearn.core.guess_criterion import identification
from pacsklearn.core.membership_criterion import MembershipCriterion
from pacsklearn.information import (
    GaussianMixture,
    certified_success,
    estimated_success,
    least_visible_covariance,
)

SPACE = SecretSpace.balanced(60, n_subsets=8)


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0, 30.0])
def test_two_candidates_have_a_closed_form(distance: float) -> None:
    space = SecretSpace.from_subsets([[0], [1]], n_rows=2)
    mixture = GaussianMixture(np.array([[0.0], [distance]]), np.array([0.5, 0.5]))
    exact = stats.norm.cdf(distance / 2)
    for criterion in (MembershipCriterion(space), identification(space)):
        found = estimated_success(mixture, criterion, 50_000, np.random.default_rng(0))
        np.testing.assert_allclose(found, exact, atol=5e-3)
        bound = certified_success(mixture, criterion, 4096, 1e-6, np.random.default_rng(1))
        assert exact <= bound <= exact + 0.02


def test_the_certificate_covers_the_worst_target() -> None:
    """One record is easy to tell: 59 others and 64 times fewer draws do not hide it."""
    members = SPACE.membership()
    outputs = (members[7].astype(float) - 0.5)[:, None] * 3.0
    mixture = GaussianMixture(outputs, np.full(8, 1 / 8))
    criterion = MembershipCriterion(SPACE)
    exact = stats.norm.cdf(1.5)
    bound = certified_success(mixture, criterion, 2048, 1e-3, np.random.default_rng(0))
    assert exact <= bound <= exact + 0.01


@pytest.mark.statistical
def test_certificates_fail_no_more_often_than_they_say() -> None:
    """500 certificates at gamma = 0.2: 130 failures have probability 6e-4 if the rate were 0.2."""
    space = SecretSpace.from_subsets([[0], [1]], n_rows=2)
    mixture = GaussianMixture(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    criterion, exact = MembershipCriterion(space), stats.norm.cdf(0.5)
    failures = sum(
        certified_success(mixture, criterion, 64, 0.2, np.random.default_rng(seed)) < exact
        for seed in range(500)
    )
    assert failures < 130


class TestLeastVisible:
    def test_orthogonal_directions_have_a_closed_form(self) -> None:
        """Minimising ``s1 + s2`` under ``a^2 / s1 <= 1`` and ``b^2 / s2 <= 1``."""
        found = least_visible_covariance(np.array([[5.0, 0.0], [0.0, 0.5]]), max_iterations=400)
        np.testing.assert_allclose(np.diag(found), [25.0, 0.25], rtol=0.1)
        assert np.trace(found) == pytest.approx(25.25, rel=2e-3)

    def test_feasible_and_close_to_its_dual_bound(self) -> None:
        directions = np.random.default_rng(0).standard_normal((300, 4)) * [3, 2, 1, 0.5]
        found = least_visible_covariance(directions, max_iterations=500)
        visible = np.einsum("ij,jk,ik->i", directions, np.linalg.inv(found), directions)
        assert visible.max() == pytest.approx(1.0)
        # Weak duality: tr S >= (tr M^(1/2))^2 for M = sum u d d' and any weights u.
        tight = visible > 0.9
        best = 0.0
        weights = np.where(tight, visible**40, 0.0)
        for _ in range(200):
            matrix = (directions.T * (weights / weights.sum())) @ directions
            values, vectors = np.linalg.eigh(matrix)
            best = max(best, np.sqrt(np.maximum(values, 0)).sum() ** 2)
            inverse = (vectors / np.sqrt(values)) @ vectors.T
            weights = weights * np.einsum("ij,jk,ik->i", directions, inverse, directions)
        assert best <= np.trace(found) <= 1.05 * best

    @pytest.mark.parametrize("rounds", [1, 2, 5])
    def test_weights_follow_how_visible_each_direction_is(self, rounds: int) -> None:
        """Titterington's update by square roots of matrices, one direction in none of the rest."""
        directions = np.random.default_rng(0).standard_normal((40, 3)) * [5.0, 1.0, 0.0]
        floor = 1e-6 * np.sum(directions**2) / 40 / 3
        weights = np.full(40, 1 / 40)
        for _ in range(rounds):
            matrix = sum(u * np.outer(d, d) for u, d in zip(weights, directions, strict=True))
            root = linalg.sqrtm(matrix + floor * np.eye(3))
            visible = np.array([d @ np.linalg.solve(root, d) for d in directions])
            weights = weights * visible / (weights @ visible)
        found = least_visible_covariance(directions, max_iterations=rounds)
        np.testing.assert_allclose(found, root * visible.max(), rtol=1e-9, atol=1e-9)

    def test_it_ends_when_all_weighted_directions_are_about_as_visible(self) -> None:
        directions = np.array([[1.0, 0.0], [0.0, 1.0]]) * [[1.0], [1.0002]]
        once, often = (least_visible_covariance(directions, max_iterations=n) for n in (1, 500))
        np.testing.assert_array_equal(once, often)
        directions[1, 1] = 1.003
        once, often = (least_visible_covariance(directions, max_iterations=n) for n in (1, 500))
        assert np.trace(often) < np.trace(once)

    def test_nothing_to_hide(self) -> None:
        with pytest.raises(ValueError, match="must not all be zero"):
            least_visible_covariance(np.zeros((3, 2)))
