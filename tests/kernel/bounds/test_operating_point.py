"""Members that few false alarms let one find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pacsklearn.audit.operating_point import most_true_positives, verdict_information


def test_information_of_a_verdict_is_that_of_its_table():
    joint = np.array([[0.3 * 0.8, 0.3 * 0.2], [0.7 * 0.1, 0.7 * 0.9]])
    apart = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    expected = np.sum(joint * np.log(joint / apart))
    assert verdict_information(0.8, 0.1, 0.3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("nats", [1e-9, 1 / 64, 1 / 4, 0.6])
@pytest.mark.parametrize("alarms", [0.0, 0.001, 0.01, 0.5])
def test_the_most_is_where_the_information_is_used_up(nats, alarms):
    most = most_true_positives(nats, alarms, 0.4)
    assert most >= alarms
    if most < 1:
        assert verdict_information(most, alarms, 0.4) >= nats * (1 - 1e-9)
        assert verdict_information(most - 3e-9, alarms, 0.4) <= nats * (1 + 1e-9)


def test_no_gaussian_channel_finds_more():
    """Two normals a shift apart at even odds; their information by quadrature."""
    shift = 0.6
    grid = np.linspace(-9, 9, 200_001)
    ends = [norm.pdf(grid, -shift / 2), norm.pdf(grid, shift / 2)]
    middle = (ends[0] + ends[1]) / 2
    nats = sum(np.trapezoid(end * np.log(end / middle), grid) for end in ends) / 2
    for alarms in (0.001, 0.01, 0.2):
        found = norm.sf(norm.isf(alarms) - shift)
        assert found < most_true_positives(nats, alarms)


def test_ends():
    assert most_true_positives(math.inf, 0.0) == 1.0
    assert most_true_positives(0.1, 1.0) == 1.0
    assert most_true_positives(0.0, 0.25) == pytest.approx(0.25, abs=1e-5)
    with pytest.raises(ValueError, match="false_positives"):
        most_true_positives(0.1, 1.5)
