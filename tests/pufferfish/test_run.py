"""Steps of a run: what each event says of itself."""

from __future__ import annotations

import pytest

from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.gradient_clipping import GradientClipping
from pacsklearn.core.ledger import MemoryLedger
from pacsklearn.core.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.noise.sampler import SecureSampler
from pacsklearn.pufferfish.run import Charging, PrivateRun
from pacsklearn.scenarios.differing_rows import DifferingRows

TAIL, FAILURE = 1e-4, 1e-3


@pytest.mark.parametrize(
    ("accounting", "per_step"), [("worst-case", TAIL), ("subsampling-aware", 0.0)]
)
def test_the_event_of_a_step_carries_its_confidence(accounting: str, per_step: float) -> None:
    """A cap that holds with probability 1 - tail in every step was charged as if it always did."""
    cap = DiscrepancyCap(
        n_rows=100,
        batch_size=10,
        sampling="without-replacement",
        largest=4,
        second_moment=6.0,
        tail=TAIL,
        failure=FAILURE,
        source="a test",
        mean_over_data=True,
    )
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 4.0, accounting)
    price = accountant.cost(10.0)
    with PrivateRun(
        accountant,
        DifferingRows(2),
        10.0,
        ceiling=8 * price,
        sampler=SecureSampler(),
        charging=Charging(steps_per_charge=5),
    ) as run:
        for _ in range(6):
            run.next_batch()
        assert isinstance(run.account.own, MemoryLedger)
        events = run.account.own.events
        told = [event.confidence for event in events]
    # Five steps are charged together, then the three that still fit.
    expected = [1 - FAILURE - 5 * per_step, 1 - FAILURE - 3 * per_step]
    assert told == pytest.approx(expected, abs=1e-12)
    assert [event.key for event in events] == [f"{run.account.session}/{n}" for n in range(2)]


@pytest.mark.parametrize("at_once", [1, 7])
def test_every_one_of_many_steps_is_charged(at_once: int) -> None:
    """More of them than Python keeps small integers for."""
    cap = DiscrepancyCap.differing(100, 1, 10)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 4.0, "worst-case")
    price, most = accountant.cost(100.0), 300
    with PrivateRun(
        accountant,
        DifferingRows(1),
        100.0,
        ceiling=(most + 0.5) * price,
        sampler=SecureSampler(),
        charging=Charging(steps_per_charge=at_once),
    ) as run:
        for step in range(1, most + 1):
            run.next_batch()
            assert run.spent >= step * price * (1 - 1e-12)
        with pytest.raises(BudgetExhaustedError):
            run.next_batch()
        assert run.spent == pytest.approx(most * price)
