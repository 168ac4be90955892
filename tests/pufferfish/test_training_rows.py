"""Which caps go with a run."""

from __future__ import annotations

import pytest

from pacsklearn import GroupScenario
from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.exceptions import ScenarioError
from pacsklearn.pufferfish.training_rows import _check_cap

SCENARIO = GroupScenario()


def cap(n_rows: int = 40, batch_size: int = 8, sampling: str = "poisson", n_differing: int = 3):
    return DiscrepancyCap.differing(n_rows, n_differing, batch_size, sampling)


@pytest.mark.parametrize(
    "other",
    [
        {"n_rows": 39},
        {"n_rows": 41},
        {"batch_size": 7},
        {"batch_size": 9},
        {"sampling": "with-replacement"},
        {"sampling": "without-replacement"},
    ],
)
def test_a_cap_for_other_batches_is_refused(other) -> None:
    """Also one that is larger in one number and smaller in the next."""
    for given, run in ((cap(**other), cap()), (cap(), cap(**other))):
        with pytest.raises(ValueError, match="make it with the same numbers"):
            _check_cap(given, None, run.n_rows, run.batch_size, run.sampling, SCENARIO)


def test_a_cap_may_hide_more_than_the_scenario_promises_and_not_less() -> None:
    for n_differing in (3, 4):
        _check_cap(cap(n_differing=n_differing), cap(), 40, 8, "poisson", SCENARIO)
    _check_cap(cap(n_differing=0), None, 40, 8, "poisson", SCENARIO)
    with pytest.raises(ScenarioError, match="fewer differing rows than GroupScenario promises"):
        _check_cap(cap(n_differing=2), cap(), 40, 8, "poisson", SCENARIO)
