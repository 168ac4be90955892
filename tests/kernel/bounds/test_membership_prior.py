"""The k-of-n membership prior, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.sampled.k_of_n import k_of_n_prior


def exact_prior(n: int, k: int, n_included: int) -> Fraction:
    outside = n - n_included
    ways = sum(
        math.comb(n_included, hits) * math.comb(outside, n_included - hits)
        for hits in range(k, n_included + 1)
    )
    return Fraction(ways, math.comb(n, n_included))


def test_known_answers() -> None:
    assert k_of_n_prior(100, 32) < 0.01
    assert k_of_n_prior(100, 31) > 0.01
    # Printed 14.56 per cent, cut off.
    assert 100 * posterior_success(1.0, k_of_n_prior(100, 35)) == pytest.approx(14.56, abs=0.01)


@pytest.mark.parametrize(
    ("n", "k"),
    [(2, 1), (100, 32), (100, 50), (1000, 260), (1000, 400), (4000, 1040)],
)
def test_equals_equation_6(n: int, k: int) -> None:
    half = n // 2
    below = sum(math.comb(half, hits) ** 2 for hits in range(k))
    expected = 1 - Fraction(below, math.comb(n, half))
    assert k_of_n_prior(n, k) == pytest.approx(float(expected), rel=1e-10)


@given(data=st.data(), n=st.integers(1, 200))
def test_any_number_of_included_rows(data: Any, n: int) -> None:
    n_included = data.draw(st.integers(0, n))
    k = data.draw(st.integers(0, n_included + 1))
    exact = float(exact_prior(n, k, n_included))
    assert k_of_n_prior(n, k, n_included) == pytest.approx(exact, rel=1e-10)


def test_ten_million_rows() -> None:
    n = 10**7
    deviation = math.sqrt(n) / 4
    hits = n // 4 + round(2 * deviation)
    assert k_of_n_prior(n, hits) == pytest.approx(math.erfc(math.sqrt(2)) / 2, rel=5e-3)


def test_edges() -> None:
    assert k_of_n_prior(10, 0) == 1.0
    assert k_of_n_prior(10, 6) == 0.0
    assert k_of_n_prior(7, 2, n_included=7) == 1.0
    assert k_of_n_prior(7, 1, n_included=0) == 0.0


def test_errors() -> None:
    with pytest.raises(ValueError, match="n"):
        k_of_n_prior(11, 3)
    with pytest.raises(ValueError, match="n_included"):
        k_of_n_prior(10, 3, n_included=11)
    with pytest.raises(ValueError, match="k"):
        k_of_n_prior(10, -1)
    half: Any = 2.5
    with pytest.raises(ValueError, match="k must be an integer"):
        k_of_n_prior(10, half)
