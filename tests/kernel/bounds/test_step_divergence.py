"""Divergences of one step, against numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.special import logsumexp

from pacsklearn.srpp.divergence.discrepancy import discrepancy_log_law
from pacsklearn.srpp.divergence.step_divergence import (
    mean_divergence,
    moment_divergence,
    secret_batch_divergence,
    shift_divergence,
)

LAW = np.exp(discrepancy_log_law(40, 6, 8, "without-replacement"))


def log_normal(x):
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


def renyi(p, q, order, reach=60.0):
    value, _ = integrate.quad(
        lambda x: np.exp(order * p(x) + (1 - order) * q(x)), -reach, reach, limit=400
    )
    return np.log(value) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 4.0])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_shift(order, count):
    shift = count * 0.4 + (0.1 if count else 0.0)
    exact = renyi(lambda x: log_normal(x - shift), log_normal, order)
    assert shift_divergence(order, count, 0.4, 0.1) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("order", [1.5, 4.0])
@pytest.mark.parametrize("reach", [0.1, 0.7])
def test_a_mixture_over_batches_is_bounded(order, reach):
    """Batch k has mean -k reach / 2 under one secret and k reach / 2 under the other."""
    k = np.arange(LAW.size)

    def mixture(sign):
        return lambda x: logsumexp(log_normal(x - sign * k * reach / 2), b=LAW)

    exact = renyi(mixture(1), mixture(-1), order)
    secret = secret_batch_divergence(order, np.log(LAW), reach)
    assert exact <= secret * (1 + 1e-9)
    mean = mean_divergence(order, LAW, reach)
    assert mean <= secret <= shift_divergence(order, LAW.size - 1, reach)
    # Known batches: what the bound is about exactly.
    moment = LAW @ np.exp((order - 1) * order / 2 * (k * reach) ** 2)
    assert secret == pytest.approx(np.log(moment) / (order - 1))
    assert mean == pytest.approx(order / 2 * reach**2 * (LAW @ k**2))
    assert moment_divergence(order, LAW @ k**2, reach) == pytest.approx(mean)


def test_the_mean_bounds_the_information_of_the_mixture():
    k, reach = np.arange(LAW.size), 0.7

    def density(sign):
        return lambda x: LAW @ np.exp(log_normal(x - sign * k * reach / 2))

    exact, _ = integrate.quad(
        lambda x: density(1)(x) * np.log(density(1)(x) / density(-1)(x)), -30, 30, limit=400
    )
    assert exact <= mean_divergence(1.0, LAW, reach)


def test_slack_counts_only_where_rows_differ():
    nothing = np.array([1.0, 0.0])
    assert mean_divergence(4, nothing, 0.5, 0.1) == 0
    assert secret_batch_divergence(4, np.array([0.0, -np.inf]), 0.5, 0.1) == 0
    law = np.array([0.8, 0.2])
    assert moment_divergence(4, 0.2, 0.5, 0.1) >= mean_divergence(4, law, 0.5, 0.1)
