"""The shape of noise under a cap: the directions that success depends on."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.capping import criterion
from pacsklearn.capping.criterion import success_directions
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.secrets import balanced_space

SPACE = balanced_space(8, n_subsets=6, seed=1)
BELIEFS = np.random.default_rng(0).dirichlet(np.full(6, 0.4), size=40)


def test_directions_are_weighted_sums_over_those_that_hold_the_unit() -> None:
    outputs = np.random.default_rng(1).standard_normal((6, 2))
    outputs -= BELIEFS[0] @ outputs
    found = success_directions(MembershipCriterion(SPACE), outputs, BELIEFS[0])
    members = SPACE.membership()
    for unit in range(8):
        inside = members[unit]
        expected = (BELIEFS[0][inside, None] * outputs[inside]).sum(axis=0)
        np.testing.assert_allclose(found[unit], expected)


@pytest.mark.parametrize("cells", [6, 7, 13, 10**6])
def test_directions_are_computed_some_units_at_a_time(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = np.random.default_rng(1).standard_normal((6, 2))
    expected = SPACE.membership() @ (outputs * BELIEFS[0][:, None])
    monkeypatch.setattr(criterion, "MOST_CELLS", cells)
    found = success_directions(MembershipCriterion(SPACE), outputs, BELIEFS[0])
    np.testing.assert_allclose(found, expected)
