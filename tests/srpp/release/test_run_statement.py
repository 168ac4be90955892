"""Costs of a run whose steps had several prices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.release.run import Charging, PrivateRun
from pacsklearn.srpp.release.run_statement import _secret, _summed, _tightness, run_guarantee
from pacsklearn.srpp.release.world_differences import WorldDifferences
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows
from tests.kernel.recorded_cap import recorded_cap

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


@pytest.mark.parametrize("accounting", ["worst-case", "secret-batches"])
@pytest.mark.parametrize("spent", [0.1, 1 / 3, 0.7, 5.3])
def test_the_information_of_a_run_is_never_below_its_share_of_the_price(
    accounting: str, spent: float
) -> None:
    """A Renyi price over its order, in exact arithmetic; with one price also what that one says."""
    cap = DiscrepancyCap.differing(500, 3, 50)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 16.0, accounting)
    run = SimpleNamespace(
        spent=spent, accountant=accountant, noise_multiplier=2.0, scenario=DifferingRows(3),
        differences=WorldDifferences(3),
    )  # fmt: skip
    share = Fraction(spent) / 16
    mixed = _secret(run, 7, mixed=True).information
    assert share < Fraction(mixed) < share * (1 + Fraction(1, 10**11))
    own = accountant.information(2.0, 7)
    assert _secret(run, 7, mixed=False).information == min(mixed, own)
    assert _secret(run, 0, mixed=False).information is None


@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("accounting", ["worst-case", "subsampling-aware", "secret-batches"])
def test_each_accounting_says_what_it_does_not_cover(accounting: str, n_draws: int) -> None:
    """A mean over batches is of no single draw; secret ones must stay so; the worst covers both."""
    cap = DiscrepancyCap.differing(500, 3, 50)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 16.0, accounting)
    with PrivateRun(
        accountant,
        DifferingRows(3),
        20.0,
        charging=Charging(100.0),
        sampler=SecureSampler(),
        differences=WorldDifferences(3, n_draws=n_draws),
    ) as run:
        run.next_batch()
        found = run_guarantee(
            run,
            delta=1e-5,
            dimension="coef_",
            public=("classes_",),
            leaks=("a leak",),
        )
        assert found.spent == run.spent
    limits = " ".join(found.not_covered)
    assert ("Single draws of the batches" in limits) == (accounting == "subsampling-aware")
    assert ("Batches that become known" in limits) == (accounting == "secret-batches")
    matched = accounting == "subsampling-aware" and n_draws == 2
    assert ("Mixtures of data sets" in limits) == matched
    assert found.not_covered[0] == "a leak"
    assert not found.for_release
    assert (found.released, found.public, found.n_releases) == (("coef_",), ("classes_",), 1)
    assert (found.confidence, found.assumptions) == (1.0, ())


@pytest.mark.parametrize("accounting", ["worst-case", "subsampling-aware"])
@pytest.mark.parametrize("tail", [0.0, 1e-4])
@pytest.mark.parametrize("failure", [0.0, 1e-3])
@pytest.mark.parametrize("mean_over_data", [False, True])
def test_what_a_bound_assumes_is_said_where_it_does(
    accounting: str, tail: float, failure: float, mean_over_data: bool
) -> None:
    """And the confidence is what is left: a worst case needs every step's tail, a mean none."""
    cap = recorded_cap(tail=tail, failure=failure, mean_over_data=mean_over_data)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0, 2.0), (3, 1)), 4.0, accounting)
    with PrivateRun(
        accountant, DifferingRows(4), 10.0, charging=Charging(100.0), sampler=SecureSampler()
    ) as run:
        for _ in range(3):
            run.next_batch()
        found = run_guarantee(run, delta=1e-5, dimension="coef_", public=("classes_",))
    worst = accounting == "worst-case"
    assert found.confidence == 1 - (failure + (3 * tail if worst else 0))
    said = [
        ("in each of 3 steps more than 4 rows differ with probability 0.0001", worst and tail > 0),
        ("simulated counts bound the true ones, but for a chance of 0.001", failure > 0),
        ("data sets of two secrets are coupled as the cap assumes", mean_over_data),
    ]
    assert len(found.assumptions) == sum(is_said for _, is_said in said)
    for words, is_said in said:
        assert any(text.startswith(words) for text in found.assumptions) == is_said
    secret = found.secret
    assert (secret.n_steps, secret.batch_size, secret.n_rows, secret.largest) == (3, 10, 100, 4)
    assert (secret.norms, secret.n_parameters, secret.second_moment) == ((1.0, 2.0), 4, 6.0)
    assert bool(secret.averaged_over) == (not worst)
    assert found.costs == accountant.costs(10.0, 3, 1e-5)
    assert found.budget == 100.0
    assert found.noise.startswith("10 clipping norms")
    assert found.for_release == (found.confidence >= 1 - 1e-6)
    assert found.charged == run.spent


def test_a_run_without_steps_has_released_nothing() -> None:
    cap = DiscrepancyCap.differing(500, 3, 50)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 16.0, "worst-case")
    with PrivateRun(
        accountant, DifferingRows(3), 20.0, charging=Charging(1.0), sampler=SecureSampler()
    ) as run:
        found = run_guarantee(run, delta=1e-5, dimension="coef_", public=(), leaks=())
    costs = found.costs
    assert (found.spent, costs.full, costs.full_epsilon, found.n_releases) == (0, 0, 0, 0)
    assert found.secret.information is None
    assert (found.confidence, found.assumptions) == (1.0, ())


@pytest.mark.parametrize(("ratio", "is_said"), [(None, False), (1.0099, False), (1.01, True)])
def test_how_tight_a_price_is_is_said_where_it_is_worth_saying(ratio: Any, is_said: bool) -> None:
    said = _tightness(SimpleNamespace(looseness=lambda noise: ratio), 2.0)
    assert said == ("; at most 1.010 times a divergence that some rows attain" if is_said else "")


def test_a_shared_ledger_is_what_was_charged() -> None:
    cap = DiscrepancyCap.differing(500, 3, 50)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 16.0, "worst-case")
    scenario, sampler = DifferingRows(3), SecureSampler()
    with PrivateRun(accountant, scenario, 20.0, charging=Charging(1.0), sampler=sampler) as other:
        shared = MemoryLedger(9.0, unit=other.unit)
    for n_before in (0, 2):
        run = PrivateRun(
            accountant, scenario, 20.0, charging=Charging(2.0, shared), sampler=sampler
        )
        run.next_batch()
        run.next_batch()
        found = run_guarantee(run, delta=1e-5, dimension="coef_", public=(), leaks=())
        run.close()
        assert found.n_releases == n_before + 2
        assert found.charged == shared.spent == pytest.approx((n_before + 2) * found.spent / 2)
