"""Success from mutual information and back, against the papers and exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from pacsklearn.kernel.bounds.posterior_success import (
    binary_kl,
    mutual_information_for_success,
    posterior_success,
)

PRIORS = st.floats(1e-12, 1 - 1e-12)
ROUNDING, TINY = Decimal("5e-15"), Decimal("1e-300")
NATS = st.one_of(st.floats(1e-18, 20.0), st.floats(-40, 1).map(lambda e: 10.0**e))


def exact_kl(r: float, q: float, digits: int = 120) -> Decimal:
    """Divergence of the given doubles, to 80 digits."""
    with localcontext() as context:
        context.prec = digits
        a, b = Decimal(r), Decimal(q)
        total = Decimal(0)
        for new, old in ((a, b), (1 - a, 1 - b)):
            if new:
                total += new * (new / old).ln()
        return total


# pac-private-algorithms, Table 1, printed to 0.001 per cent by a numerical solver.
@pytest.mark.parametrize(
    ("nats", "half", "hundredth"),
    [
        (1 / 64, 58.815, 3.213),
        (1 / 32, 62.434, 4.364),
        (1 / 16, 67.490, 6.200),
        (1 / 8, 74.464, 9.171),
        (1 / 4, 83.789, 14.057),
        (1 / 2, 95.181, 22.177),
        (1.0, 100.0, 35.729),
        (2.0, 100.0, 58.103),
        (4.0, 100.0, 92.582),
    ],
)
def test_known_answers(nats: float, half: float, hundredth: float) -> None:
    assert 100 * posterior_success(nats) == pytest.approx(half, abs=1e-3)
    assert 100 * posterior_success(nats, prior=0.01) == pytest.approx(hundredth, abs=1e-3)


# pac-private-responses, Table 1.
@pytest.mark.parametrize(
    ("answers", "log2_nats", "per_cent", "step"),
    [
        (1, -8, 54.4, 0.1),
        (10, -8, 63.9, 0.1),
        (100, -8, 91.0, 0.1),
        (10**3, -16, 58.7, 0.1),
        (10**4, -16, 76.9, 0.1),
        (10**6, -24, 67.09, 0.01),
        (10**6, -32, 51.08, 0.01),
    ],
)
def test_known_answers_of_a_session(
    answers: int, log2_nats: int, per_cent: float, step: float
) -> None:
    success = 100 * posterior_success(answers * 2.0**log2_nats)
    assert success == pytest.approx(per_cent, abs=0.5 * step)


@pytest.mark.parametrize("prior", [1e-6, 0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("nats", [1e-3, 1 / 64, 0.1])
def test_agrees_with_root_finding_on_the_plain_formula(nats: float, prior: float) -> None:
    def excess(r: float) -> float:
        return r * math.log(r / prior) + (1 - r) * math.log((1 - r) / (1 - prior)) - nats

    root = brentq(excess, prior * (1 + 1e-12), 1 - 1e-12, xtol=1e-15)
    assert posterior_success(nats, prior) == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize("prior", [1e-300, 1e-200, 1e-12, 0.5])
@pytest.mark.parametrize("nats", [5e-324, 1e-318, 1e-310, 1e-300])
def test_outward_where_doubles_run_out(nats: float, prior: float) -> None:
    assert exact_kl(posterior_success(nats, prior), prior, digits=700) >= Decimal(nats)


@pytest.mark.parametrize("small", [5e-324, 1e-300, 1e-290, 1.1e-290, 1e-30])
@pytest.mark.parametrize("other", [3e-324, 1e-200, 1e-3, 0.5, 1.0])
def test_the_divergence_keeps_its_digits_where_a_prior_hardly_is_a_number(
    small: float, other: float
) -> None:
    assert binary_kl(other, small) == pytest.approx(
        float(exact_kl(other, small, digits=700)), rel=1e-13, abs=0
    )


@given(nats=NATS, prior=PRIORS)
def test_rounded_outward_but_not_far(nats: float, prior: float) -> None:
    success = posterior_success(nats, prior)
    assert prior < success <= 1.0
    if success < 1.0:
        assert exact_kl(success, prior) >= Decimal(nats)
    else:
        assert Decimal(nats) >= exact_kl(math.nextafter(1.0, 0.0), prior) * Decimal(1 - 1e-12)
    slack = 4 * math.ulp(success) + 1e-13 * (success - prior)
    lower = success - slack
    if lower > prior:
        assert exact_kl(lower, prior) < Decimal(nats)


@pytest.mark.parametrize("nats", [1e-12, 1e-15, 1e-18, 1e-24])
@pytest.mark.parametrize("prior", [0.5, 0.01, 1e-9, 0.99])
def test_tiny_budgets_keep_the_digits_of_the_advantage(nats: float, prior: float) -> None:
    leading = math.sqrt(2 * nats * prior * (1 - prior))
    success = posterior_success(nats, prior)
    skew = 4 * math.sqrt(nats / min(prior, 1 - prior))
    assert success - prior == pytest.approx(leading, rel=skew, abs=3 * math.ulp(prior))


def test_the_smallest_budgets_still_move_the_prior() -> None:
    for nats in (1e-40, 1e-300, 5e-324):
        assert posterior_success(nats) == math.nextafter(0.5, 1.0)
        assert posterior_success(nats, prior=1e-300) > 1e-300
        assert posterior_success(nats, prior=5e-324) > 5e-324


@given(low=NATS, high=NATS, prior=PRIORS)
def test_increases_with_information(low: float, high: float, prior: float) -> None:
    low, high = sorted((low, high))
    # Each value may lie a few units in the last place above the exact one.
    step = 8 * math.ulp(1.0) * posterior_success(high, prior)
    assert posterior_success(low, prior) <= posterior_success(high, prior) + step


@given(nats=NATS, low=PRIORS, high=PRIORS)
def test_increases_with_the_prior(nats: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    step = 8 * math.ulp(1.0) * posterior_success(nats, high)
    assert posterior_success(nats, low) <= posterior_success(nats, high) + step


@given(nats=st.floats(1e-12, 20.0), prior=st.floats(1e-6, 1 - 1e-6))
def test_round_trip_from_nats(nats: float, prior: float) -> None:
    success = posterior_success(nats, prior)
    back = mutual_information_for_success(success, prior)
    if success == 1.0:
        assert back == pytest.approx(-math.log(prior), rel=1e-12)
    else:
        # One unit in the last place of the success moves the divergence by this much.
        slope = math.log(success / prior) + math.log((1 - prior) / (1 - success))
        assert back == pytest.approx(nats, rel=1e-12, abs=16 * math.ulp(success) * slope)


@given(prior=PRIORS, share=st.floats(0.0, 1.0))
def test_round_trip_from_success(prior: float, share: float) -> None:
    success = min(prior + share * (1 - prior), 1.0)
    nats = mutual_information_for_success(success, prior)
    assert posterior_success(nats, prior) == pytest.approx(success, rel=1e-14, abs=1e-15)


@given(prior=PRIORS, share=st.floats(0.0, 1.0))
def test_inverse_is_rounded_inward(prior: float, share: float) -> None:
    success = min(prior + share * (1 - prior), 1.0)
    nats = Decimal(mutual_information_for_success(success, prior))
    exact = exact_kl(success, prior)
    assert nats <= exact
    assert nats >= exact * Decimal(1 - 1e-13)


@given(r=st.floats(0.0, 1.0), q=PRIORS)
def test_binary_kl_has_full_relative_accuracy(r: float, q: float) -> None:
    exact = exact_kl(r, q)
    # Far below the smallest normal double only the absolute error can be small.
    assert abs(Decimal(binary_kl(r, q)) - exact) <= exact * ROUNDING + TINY


@given(q=PRIORS, relative=st.floats(-12, 0).map(lambda e: 10.0**e), sign=st.sampled_from([-1, 1]))
def test_binary_kl_of_nearly_equal_coins(q: float, relative: float, sign: int) -> None:
    r = min(max(q * (1 + sign * relative), 0.0), 1.0)
    exact = exact_kl(r, q)
    assert abs(Decimal(binary_kl(r, q)) - exact) <= exact * ROUNDING + TINY


def test_binary_kl_edges() -> None:
    assert binary_kl(0.3, 0.3) == 0.0
    assert binary_kl(0.0, 0.0) == binary_kl(1.0, 1.0) == 0.0
    assert binary_kl(0.5, 0.0) == binary_kl(0.5, 1.0) == math.inf
    assert binary_kl(0.0, 0.25) == pytest.approx(-math.log(0.75))


def test_edges() -> None:
    assert posterior_success(0.0, 0.3) == 0.3
    assert posterior_success(math.inf, 0.3) == 1.0
    assert posterior_success(1.0, prior=1.0) == 1.0
    assert posterior_success(math.inf, prior=0.0) == 0.0
    assert posterior_success(math.log(2)) == 1.0
    assert mutual_information_for_success(0.5) == 0.0
    assert mutual_information_for_success(1.0, prior=1.0) == 0.0
    assert mutual_information_for_success(0.1, prior=0.0) == math.inf
    assert mutual_information_for_success(0.0, prior=0.0) == 0.0


def test_accepts_numpy_scalars_and_0d_arrays() -> None:
    expected = posterior_success(0.25, 0.5)
    zero_d: Any = np.array(0.25)
    single: Any = np.float32(0.5)
    assert posterior_success(np.float64(0.25), single) == expected
    assert posterior_success(zero_d) == expected
    assert type(posterior_success(np.float64(0.25))) is float


@pytest.mark.parametrize("nats", [-1e-9, math.nan])
def test_refuses_bad_information(nats: float) -> None:
    with pytest.raises(ValueError, match="mutual_information"):
        posterior_success(nats)


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan])
def test_refuses_bad_priors(prior: float) -> None:
    with pytest.raises(ValueError, match="prior"):
        posterior_success(0.1, prior)


@pytest.mark.parametrize("bad", ["0.1", True, None, np.zeros(2)])
def test_refuses_what_is_not_a_number(bad: Any) -> None:
    with pytest.raises(TypeError, match="mutual_information"):
        posterior_success(bad)


def test_refuses_a_success_below_the_prior() -> None:
    with pytest.raises(ValueError, match="success"):
        mutual_information_for_success(0.4)
