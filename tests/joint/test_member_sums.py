"""Sums over members against sums taken subset by subset."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.joint.member_sums import member_products, member_sums
from pacsklearn.secrets import balanced_space


@pytest.mark.parametrize("n_subsets", [2, 6, 32])
@pytest.mark.parametrize(("n", "q"), [(7, 3), (500, 2), (9001, 5)])
def test_against_each_subset(n: int, q: int, n_subsets: int) -> None:
    generator = np.random.default_rng(0)
    table, space = generator.normal(size=(n, q)), balanced_space(n, n_subsets=n_subsets)
    sums, products = member_sums(table, space), member_products(table, space)
    for i in range(space.n_subsets):  # equal ones are one
        own = table[space.rows(i)]
        assert sums[i] == pytest.approx(own.sum(axis=0), abs=1e-9)
        assert products[i] == pytest.approx(own.T @ own, abs=1e-9)


@pytest.mark.parametrize("n_subsets", [12, 32])
def test_rows_are_read_block_by_block(n_subsets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacsklearn.joint.member_sums._ROWS", 1000)
    generator = np.random.default_rng(3)
    table, codes = generator.normal(size=(3500, 4)), generator.integers(0, 3, 3500)
    space = balanced_space(3500, n_subsets=n_subsets)
    sums = member_sums(table, space, codes, 3, squares=True)
    products = member_products(table, space, np.flatnonzero(codes == 1))
    for i in range(n_subsets):
        own = space.rows(i)
        own = table[own[codes[own] == 1]]
        both = np.concatenate([own.sum(axis=0), np.square(own).sum(axis=0)])
        assert sums[i, 1] == pytest.approx(both, abs=1e-9)
        assert products[i] == pytest.approx(own.T @ own, abs=1e-9)


def test_groups_move_together() -> None:
    generator = np.random.default_rng(1)
    table, groups = generator.normal(size=(300, 2)), generator.integers(0, 40, 300)
    space = balanced_space(300, n_subsets=8, groups=groups)
    sums, products = member_sums(table, space), member_products(table, space)
    for i in range(8):
        own = table[space.rows(i)]
        assert sums[i] == pytest.approx(own.sum(axis=0))
        assert products[i] == pytest.approx(own.T @ own)


@pytest.mark.parametrize("n_codes", [4, 9])
def test_sums_of_each_class(n_codes: int) -> None:
    generator = np.random.default_rng(1)
    table, codes = generator.normal(size=(300, 2)), generator.integers(0, 3, 300)
    space = balanced_space(300, n_subsets=12)
    sums = member_sums(table, space, codes, n_codes)
    assert sums.shape == (12, n_codes, 2)
    for i in range(12):
        rows = space.rows(i)
        for code in range(4):
            assert sums[i, code] == pytest.approx(table[rows[codes[rows] == code]].sum(axis=0))


@pytest.mark.parametrize("n_codes", [1, 2, 9])
def test_squares_stand_after_the_columns(n_codes: int) -> None:
    generator = np.random.default_rng(4)
    table, codes = generator.normal(size=(3000, 3)), generator.integers(0, n_codes, 3000)
    space = balanced_space(3000, n_subsets=12)
    both = member_sums(np.column_stack([table, table**2]), space, codes, n_codes)
    summed = member_sums(table, space, codes, n_codes, squares=True)
    np.testing.assert_allclose(summed, both, rtol=1e-12, atol=1e-10)


def test_rows_of_others_leave_no_trace_not_even_in_rounding() -> None:
    generator = np.random.default_rng(2)
    table, space = generator.normal(size=(4000, 3)), balanced_space(4000, n_subsets=12)
    codes = generator.integers(0, 2, 4000)
    others = np.setdiff1d(np.arange(4000), space.rows(5))
    told = (member_sums(table, space), member_sums(table, space, codes, 2))
    many = member_sums(table, space, codes, 9, squares=True)
    products = member_products(table, space)
    table[others] = 1e15 * generator.normal(size=(others.size, 3))
    codes[others] = generator.permutation(codes[others])
    assert np.array_equal(member_sums(table, space)[5], told[0][5])
    assert np.array_equal(member_sums(table, space, codes, 2)[5], told[1][5])
    assert np.array_equal(member_sums(table, space, codes, 9, squares=True)[5], many[5])
    assert np.array_equal(member_products(table, space)[5], products[5])
