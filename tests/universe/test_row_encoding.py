"""The public map that says which rows are alike."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pacsklearn.universe.similarity import Similarity, row_encoding

GENERATOR = np.random.default_rng(0)
NUMBERS = GENERATOR.normal(size=(200, 3))


def test_a_quarter_of_a_spread_is_one_step() -> None:
    column = np.resize([-1.0, 1.0], 200)[:, None]
    assert row_encoding(column, 200).ravel().tolist() == np.resize([-4, 4], 200).tolist()


def test_units_of_measurement_do_not_matter() -> None:
    codes = row_encoding(NUMBERS, 200)
    for scale in (2.0**-1000, 2.0**-60, 2.0**900):
        np.testing.assert_array_equal(row_encoding(NUMBERS * scale, 200), codes)


@pytest.mark.parametrize("far", [1e6, 1e200, np.inf, -np.inf])
def test_a_row_far_away_is_at_the_edge_and_moves_no_other(far: float) -> None:
    rows = NUMBERS.copy()
    rows[7, 1] = far
    codes = row_encoding(rows, 200)
    assert codes[7, 1] == (16 if far > 0 else -16)
    others = np.arange(200) != 7
    assert np.abs(codes[others].astype(int) - row_encoding(NUMBERS, 200)[others]).max() <= 1


def test_gaps_are_in_the_middle_and_a_column_of_their_own() -> None:
    rows = NUMBERS.copy()
    rows[::2, 0] = np.nan
    codes = row_encoding(rows, 200)
    assert codes.shape == (200, 4)
    assert not codes[::2, 0].any()
    assert len(set(codes[::2, 3].tolist())) == len(set(codes[1::2, 3].tolist())) == 1
    assert codes[0, 3] != codes[1, 3]


def test_common_words_are_columns_and_rare_ones_are_nothing() -> None:
    words = np.array(["a", "b"] * 99 + ["rare", "rarer"], dtype=object)
    frame = pd.DataFrame({"word": words, "text": [f"line {i}" for i in range(200)], "flat": 1})
    codes = row_encoding(frame, 200)
    assert codes.shape == (200, 2)
    np.testing.assert_array_equal(codes[198], codes[199])
    np.testing.assert_array_equal(codes, row_encoding(frame.to_numpy(), 200))


TIMES = pd.to_datetime("2020-01-01 08:30") + pd.to_timedelta(np.arange(200) * 7, unit="h")


@pytest.mark.parametrize(
    "column",
    [
        TIMES.to_series(),
        TIMES.tz_localize("Europe/Rome", ambiguous=True, nonexistent="shift_forward").to_series(),
        TIMES.to_series().astype(object),
        TIMES.to_series().astype(str),
        TIMES.to_series().dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        pd.Series([Decimal(7 * i).scaleb(-2) for i in range(200)], dtype=object),
    ],
    ids=["times", "of a zone", "objects", "texts", "UTC", "decimals"],
)
@pytest.mark.parametrize("gap", [False, True])
def test_times_and_decimals_are_numbers(column: Any, gap: bool) -> None:
    numbers = pd.Series(np.arange(200.0))
    column = column.reset_index(drop=True)
    if gap:
        numbers[7], column[7] = np.nan, None
    codes = row_encoding(column.to_frame(), 200)
    np.testing.assert_array_equal(codes, row_encoding(numbers.to_frame(), 200))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": ["2020-01-01", "soon"] * 100, "b": ["2020-13-01", "9" * 400] * 100}),
        np.array(
            [[Decimal("1e400"), datetime.max.replace(tzinfo=UTC)], [Decimal("-Infinity"), None]]
            * 100
        ),
        pd.DataFrame({"a": pd.array([1, None] * 100, dtype="Int64"), "b": np.arange(200)}),
        pd.DataFrame({"a": pd.Categorical(["x", "y"] * 100)}),
        np.array([["x", 1.0], ["y", 2.0]] * 100, dtype=object),
        np.array(["some text", "another"] * 100),
        np.arange(1200).reshape(200, 2, 3),
        sparse.random(200, 5000, 0.01, format="csr", random_state=0),
        sparse.csr_matrix((200, 3)),
        np.zeros((200, 2)),
        np.full((200, 2), np.nan),
        pd.Series(np.arange(200.0)),
    ],
    ids=lambda table: type(table).__name__,
)
def test_any_table_has_codes(table: Any) -> None:
    codes = row_encoding(table, 200)
    assert codes.dtype == np.int8
    assert codes.shape[0] == 200
    assert np.abs(codes.astype(int)).max(initial=0) <= 16
    similarity = Similarity.of(table)
    assert similarity.cells.shape == (200,)
    assert similarity.moments is not None
    assert np.isfinite(similarity.moments).all()


def test_groups_are_compared_by_their_sums_and_sizes() -> None:
    groups = np.r_[np.repeat(np.arange(30), 2), 30, 31, 31]
    rows = np.zeros((63, 1))
    rows[:60:2, 0], rows[1:60:2, 0] = 1.0, -1.0
    cells = Similarity.of(rows, None, groups).cells
    assert len(set(cells[:30].tolist())) == 1
    assert cells[30] != cells[0]


def test_targets_part_rows_that_are_equal_otherwise() -> None:
    targets = np.resize([0.0, 1.0, 2.0], 60)
    assert len(set(Similarity.of(np.zeros((60, 1)), targets).cells.tolist())) == 3


def test_many_columns_are_compared_along_few_directions() -> None:
    wide = Similarity.of(GENERATOR.normal(size=(60, 7000)))
    assert wide.places.shape == (60, 4)
    assert wide.moments is not None
    assert wide.moments.shape == (60, 120)  # of sixty directions: no more than rows
