"""Costs of a run whose steps had several prices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pacsklearn.core.sliced_law import RenyiCosts
from pacsklearn.information.renyi_conversion import epsilon_at_order
from pacsklearn.pufferfish.run_statement import _summed

COSTS = RenyiCosts(4.0, 0, 0, 0, 0, 1e-5, 0, 0, 0, True)


@pytest.mark.parametrize("size", [0.01, 1.0, 5.0])
def test_steps_add_up_and_are_converted_together(size: float) -> None:
    found = _summed(((0.5 * size, 3, 0.75 * size), (1.0 * size, 2, 2.0 * size)), COSTS)
    for total in (found.average, found.joint, found.worst_slice, found.full):
        assert 3.5 * size < total <= 3.5 * size * (1 + 1e-8)
    least = epsilon_at_order(6.25 * size, 4.0, 1e-5)
    for epsilon in (found.average_epsilon, found.joint_epsilon, found.full_epsilon):
        assert least < epsilon <= least * (1 + 1e-8)
    assert not found.full_is_exact


def test_a_run_that_cost_nothing_has_no_epsilon() -> None:
    assert _summed((), COSTS) == replace(COSTS, full_is_exact=False)
