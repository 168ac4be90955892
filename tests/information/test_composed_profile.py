"""Many steps, against dp_accounting's own convolution and its Renyi bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.gradient_clipping import GradientClipping
from pacsklearn.core.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.information.composed_profile import composed_epsilon
from pacsklearn.information.discrepancy import discrepancy_log_law
from pacsklearn.information.privacy_profile import CommonBatchProfile, OppositeRowsProfile
from pacsklearn.information.renyi_conversion import epsilon_at_order, gaussian_epsilon

N, DELTA = 10_000, 1e-5


def accountant(rate, sampling, order=8.0, rows=1):
    cap = DiscrepancyCap.differing(N, rows, int(N * rate), sampling)
    return SRPPSGDAccountant(cap, GradientClipping((1.0,), (1,)), order, "secret-batches")


def theirs(event, n_steps, kind):
    """dp_accounting, for one row in the place of another."""
    dpa = pytest.importorskip("dp_accounting")
    replaced = dpa.NeighboringRelation.REPLACE_ONE
    if kind == "rdp":
        found = dpa.rdp.RdpAccountant(neighboring_relation=replaced)
    else:
        found = dpa.pld.PLDAccountant(replaced, value_discretization_interval=1e-3)
    found.compose(event, n_steps)
    return found


@pytest.mark.parametrize("n_steps", [1, 100, 10_000])
@pytest.mark.parametrize("sigma", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1])
def test_without_replacement_no_dearer_than_the_published_renyi_bounds(rate, sigma, n_steps):
    """Their noise is relative to the sensitivity, which is two clipping norms."""
    dpa = pytest.importorskip("dp_accounting")
    event = dpa.SampledWithoutReplacementDpEvent(N, int(N * rate), dpa.GaussianDpEvent(sigma))
    other = theirs(event, n_steps, "rdp")
    found = accountant(rate, "without-replacement").costs(2 * sigma, n_steps, DELTA)
    assert found.full_epsilon <= 1.05 * other.get_epsilon(DELTA)
    orders, costs = other._orders, other._rdp
    for order in (2, 8, 32):
        price = n_steps * accountant(rate, "without-replacement", float(order)).cost(2 * sigma)
        assert price <= 1.05 * costs[list(orders).index(order)]


@pytest.mark.parametrize(
    ("rate", "sigma", "n_steps"),
    [
        (0.001, 1.0, 10_000),
        (0.01, 1.0, 100),
        (0.01, 2.0, 10_000),
        (0.1, 2.0, 1),
        (0.1, 8.0, 10_000),
    ],
)
def test_poisson_batches_cost_what_their_convolution_says(rate, sigma, n_steps):
    dpa = pytest.importorskip("dp_accounting")
    event = dpa.PoissonSampledDpEvent(rate, dpa.GaussianDpEvent(sigma))
    expected = theirs(event, n_steps, "pld").get_epsilon(DELTA)
    found = accountant(rate, "poisson").costs(sigma, n_steps, DELTA).full_epsilon
    # Their grid is coarser here than by default, which only raises their figure.
    assert 0.97 * expected <= found <= 1.05 * expected


@pytest.mark.parametrize("n_steps", [1, 30, 3000])
def test_a_gaussian_is_composed_exactly(n_steps):
    reach = 0.3
    for profile in (
        OppositeRowsProfile(np.array([-np.inf, 0.0]), reach / 2),
        CommonBatchProfile(np.array([-np.inf, 0.0]), reach),
    ):
        exact = gaussian_epsilon(n_steps * reach**2 / 2, DELTA)
        assert exact * (1 - 1e-9) <= composed_epsilon(profile, n_steps, DELTA) <= 1.01 * exact


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
def test_never_above_the_conversion_of_renyi_bounds(sampling):
    kind = OppositeRowsProfile if sampling == "poisson" else CommonBatchProfile
    for rows, reach in ((1, 1.0), (20, 0.05)):
        profile = kind(discrepancy_log_law(N, rows, 40, sampling), reach)
        for n_steps in (1, 1000):
            converted = [
                epsilon_at_order(n_steps * profile.renyi(a), a, DELTA) for a in (1.5, 3, 6, 12, 40)
            ]
            assert composed_epsilon(profile, n_steps, DELTA) <= min(converted)


def test_a_step_alone():
    """Where the curve itself says delta."""
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    points = profile.at(np.array([1.0, 2.0, 3.0]))
    for level, log_delta in zip(points.epsilon, points.log_delta, strict=True):
        found = composed_epsilon(profile, 1, math.exp(log_delta))
        assert level <= found <= level * 1.01


def test_beyond_double_precision():
    profile = OppositeRowsProfile(np.log([0.9, 0.1]), 0.8)
    assert composed_epsilon(profile, 1000, 1e-12) == math.inf
    # The accountant turns to Renyi bounds.
    found = accountant(0.1, "poisson").costs(2.0, 1000, 1e-12).full_epsilon
    assert accountant(0.1, "poisson").costs(2.0, 1000, 1e-6).full_epsilon < found < math.inf
