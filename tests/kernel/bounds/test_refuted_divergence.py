"""Divergences that a successful guess refutes, against a search over all pairs of chances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacsklearn.audit.audit_record import refuted_divergence


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> np.ndarray:
    total = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
    return np.log(total) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 4.0, 16.0])
@pytest.mark.parametrize("success", [0.51, 0.7, 0.95])
def test_no_two_secrets_that_are_guessed_so_often_have_less(success: float, order: float) -> None:
    apart = 2 * success - 1
    q = np.linspace(0, 1 - apart, 100_003)[1:-1]
    each = np.maximum(divergence(q + apart, q, order), divergence(q, q + apart, order))
    assert refuted_divergence(success, 0.5, order) == pytest.approx(each.min(), rel=1e-6)


def test_more_secrets_are_judged_by_what_a_guess_needs_to_know() -> None:
    expected = 0.5 * math.log(4) + 0.5 * math.log(0.5 / 0.875)
    assert refuted_divergence(0.5, 0.125, 4.0) == pytest.approx(expected)
    assert refuted_divergence(1.0, 0.25, 4.0) == pytest.approx(math.log(4))


def test_the_ends() -> None:
    for success, blind in ((0.5, 0.5), (0.2, 0.5), (0.1, 0.125)):
        assert refuted_divergence(success, blind, 4.0) == 0.0
    assert refuted_divergence(1.0, 0.5, 4.0) == math.inf
    assert refuted_divergence(1 - 1e-12, 0.5, 4.0) == pytest.approx(math.log(1e12))
    with pytest.raises(ValueError, match="success"):
        refuted_divergence(1.1, 0.5, 4.0)
