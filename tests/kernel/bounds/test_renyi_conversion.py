"""Conversions to (epsilon, delta), against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pacsklearn.srpp.divergence.renyi_conversion import (
    approximate_epsilon,
    concentrated_epsilon,
    epsilon_at_order,
    gaussian_epsilon,
)

RATES = [1e-10, 1e-4, 0.02, 5.0, 400.0]
DELTAS = [1e-9, 1e-5, 0.1]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rate", RATES)
def test_epsilon_is_the_minimum_over_orders(rate, delta):
    orders = 1 + np.logspace(-6, 6, 400_001)
    excess = orders - 1
    each = rate * orders + np.log(excess / orders) - np.log(delta * orders) / excess
    expected = max(np.min(each), 0.0)
    assert concentrated_epsilon(rate, delta) == pytest.approx(expected, rel=1e-5, abs=1e-12)
    assert approximate_epsilon(lambda order: rate * order, delta) == concentrated_epsilon(
        rate, delta
    )
    # Below the published conversion (srpp, Lemma B.1) at every order.
    published = 4 * rate + np.log(1 / delta) / 3
    assert epsilon_at_order(4 * rate, 4.0, delta) < published


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rate", RATES)
def test_gaussian_epsilon_is_exact(rate, delta):
    shift = np.sqrt(2 * rate)
    epsilon = gaussian_epsilon(rate, delta)
    assert 0 <= epsilon <= concentrated_epsilon(rate, delta)

    def exact(level):
        near, far = shift / 2 - level / shift, -shift / 2 - level / shift
        return norm.cdf(near) - np.exp(level + norm.logcdf(far))

    assert exact(epsilon * (1 + 1e-9)) <= delta * (1 + 1e-9)
    if epsilon > 0:
        assert exact(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9)


def test_bad_delta():
    with pytest.raises(ValueError, match="delta"):
        gaussian_epsilon(1.0, 1.0)
    assert gaussian_epsilon(0.0, 0.5) == 0.0
    assert approximate_epsilon(lambda _: 0.0, 0.5) == 0.0
