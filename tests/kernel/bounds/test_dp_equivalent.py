"""DP with the same membership bound, and answers until a bound is reached."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacsklearn.estimators.dp_comparison import answers_until, dp_success
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success


def test_known_epsilons() -> None:
    assert dp_epsilon(0.58815) == pytest.approx(0.36, abs=0.005)
    assert dp_epsilon(0.95181) == pytest.approx(2.98, abs=0.005)


def test_known_successes() -> None:
    assert 100 * dp_success(1.0, 1e-5) == pytest.approx(73.11, abs=0.005)
    assert 100 * dp_success(0.1, 1e-5) == pytest.approx(52.50, abs=0.005)


# pac-private-responses, Table 1: answers until the bound equals (1, 1e-5)-DP.
@pytest.mark.parametrize(
    ("log2_nats", "answers", "digit"),
    [
        (-4, 1, 1),
        (-8, 28, 1),
        (-12, 454, 1),
        (-16, 7_000, 1_000),
        (-20, 116_000, 1_000),
        (-24, 2_000_000, 10**6),
        (-28, 30_000_000, 10**6),
        (-32, 477_000_000, 10**6),
    ],
)
def test_known_numbers_of_answers(log2_nats: int, answers: int, digit: int) -> None:
    counted = answers_until(dp_success(1.0, 1e-5), 2.0**log2_nats)
    assert abs(counted - answers) <= digit / 2


@given(
    success=st.floats(0.5001, 0.999999), nats=st.floats(-9, 0).map(lambda exponent: 10.0**exponent)
)
def test_answers_until_is_the_last_that_keeps_the_bound(success: float, nats: float) -> None:
    answers = answers_until(success, nats)
    slack = 1e-9 * answers * nats
    assert posterior_success(max(answers * nats - slack, 0.0)) <= success
    assert posterior_success((answers + 1) * nats + slack) > success


@given(epsilon=st.floats(0.0, 20.0), delta=st.floats(0.0, 0.99))
def test_epsilon_and_success_are_inverse(epsilon: float, delta: float) -> None:
    success = dp_success(epsilon, delta)
    # Near success 1 a unit in the last place is a large step of epsilon.
    step = 4 * math.ulp(1.0) * (1 / (1 - success) + 1 / (success - delta))
    assert dp_epsilon(success, delta) == pytest.approx(epsilon, rel=1e-12, abs=step)


@given(advantage=st.floats(-14, -1).map(lambda exponent: 10.0**exponent))
def test_tiny_epsilons_keep_their_digits(advantage: float) -> None:
    success = 0.5 + advantage
    with localcontext() as context:
        context.prec = 60
        exact = float((Decimal(success) / (1 - Decimal(success))).ln())
    assert dp_epsilon(success) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7, 0.95])
def test_success_is_the_largest_over_the_trade_off_region(
    epsilon: float, delta: float, prior: float
) -> None:
    false_positive = np.linspace(0.0, 1.0, 200_001)
    least_false_negative = np.maximum(
        0.0,
        np.maximum(
            1 - delta - np.exp(epsilon) * false_positive,
            np.exp(-epsilon) * (1 - delta - false_positive),
        ),
    )
    best = np.max(1 - (1 - prior) * false_positive - prior * least_false_negative)
    assert dp_success(epsilon, delta, prior) == pytest.approx(float(best), abs=2e-5)


def test_edges() -> None:
    assert dp_epsilon(1.0) == math.inf
    assert dp_epsilon(0.5) == dp_epsilon(0.2) == 0.0
    assert dp_epsilon(0.505, delta=0.02) == 0.0
    assert dp_success(math.inf) == dp_success(0.0, delta=1.0) == 1.0
    assert dp_success(0.0) == 0.5
    assert answers_until(0.5, 1e-3) == 0
    assert answers_until(0.6, 10.0) == 0


def test_errors() -> None:
    with pytest.raises(ValueError, match="nats_per_answer"):
        answers_until(0.6, 0.0)
    with pytest.raises(ValueError, match="answers"):
        answers_until(0.6, 1e-3, prior=0.0)
    with pytest.raises(ValueError, match="answers"):
        answers_until(1.0, 5e-324)
    with pytest.raises(ValueError, match="prior"):
        answers_until(0.4, 1e-3)
    with pytest.raises(ValueError, match="epsilon"):
        dp_success(-1.0)
    with pytest.raises(ValueError, match="delta"):
        dp_epsilon(0.6, delta=2.0)
