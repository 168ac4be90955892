"""Costs of a run whose steps had several prices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.gradient_clipping import GradientClipping
from pacsklearn.core.sliced_law import RenyiCosts
from pacsklearn.core.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.information.renyi_conversion import epsilon_at_order
from pacsklearn.noise.sampler import SecureSampler
from pacsklearn.pufferfish.run import PrivateRun
from pacsklearn.pufferfish.run_statement import _secret, _summed, run_guarantee
from pacsklearn.pufferfish.world_differences import WorldDifferences
from pacsklearn.scenarios.differing_rows import DifferingRows

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
        spent=spent, accountant=accountant, noise_multiplier=2.0, scenario=DifferingRows(3)
    )
    stated = SimpleNamespace(n_secrets=2, n_pairs=1, n_priors=1, n_draws=None, coupling=None)
    share = Fraction(spent) / 16
    mixed = _secret(run, stated, 7, mixed=True).information
    assert share < Fraction(mixed) < share * (1 + Fraction(1, 10**11))
    own = accountant.information(2.0, 7)
    assert _secret(run, stated, 7, mixed=False).information == min(mixed, own)
    assert _secret(run, stated, 0, mixed=False).information is None


@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("accounting", ["worst-case", "subsampling-aware", "secret-batches"])
def test_each_accounting_says_what_it_does_not_cover(accounting: str, n_draws: int) -> None:
    """A mean over batches is of no single draw; secret ones must stay so; the worst covers both."""
    cap = DiscrepancyCap.differing(500, 3, 50)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 16.0, accounting)
    with PrivateRun(
        accountant, DifferingRows(3), 20.0, ceiling=100.0, sampler=SecureSampler()
    ) as run:
        run.next_batch()
        found = run_guarantee(
            run,
            WorldDifferences(3, n_draws=n_draws),
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
