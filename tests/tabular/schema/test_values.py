from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacsklearn.tabular.schema.values import (
    MISSING,
    OUTSIDE,
    as_codes,
    as_days,
    as_numbers,
    as_words,
    column_values,
    day_of,
    key_of,
)


def test_one_category_in_every_container():
    assert {key_of(value) for value in (1, 1.0, np.int8(1), np.float32(1), "1")} == {"1"}
    assert key_of(value=True) == key_of(np.True_) == "True"
    found = as_codes(np.array([1, "1", 2.0, "", None, np.nan, "?"], dtype=object), [2, 1], ["?"])
    assert found.tolist() == [1, 1, 0, MISSING, MISSING, MISSING, MISSING]
    assert as_codes(np.array([1.0, 3.0, np.nan]), [1], []).tolist() == [0, OUTSIDE, MISSING]


def test_usual_spellings_of_truth_values():
    given = np.array([True, 1, 1.0, "true", "TRUE", 0, "false", "yes", "0"], dtype=object)
    assert as_codes(given, [False, True], []).tolist() == [1, 1, 1, 1, 1, 0, 0, OUTSIDE, 0]
    # What is stated goes before them.
    assert as_codes(given[-1:], [False, True], ["0"]).tolist() == [MISSING]
    assert as_codes(given[-1:], [False, True, "0"], []).tolist() == [2]
    assert as_codes(given[:2], ["no", "yes"], []).tolist() == [OUTSIDE, OUTSIDE]


def test_a_listed_category_wins_over_a_code_for_missing_values():
    assert as_codes(np.array(["", "a"], dtype=object), ["", "a"], []).tolist() == [0, 1]


def test_numbers_with_codes_and_cells_that_are_none():
    numbers, strange = as_numbers(np.array(["1.5", "?", "x", None], dtype=object), ["?"])
    np.testing.assert_array_equal(numbers, [1.5, np.nan, np.nan, np.nan])
    assert strange.tolist() == [False, False, True, False]
    numbers, strange = as_numbers(np.array([1, -9, np.inf]), [-9])
    np.testing.assert_array_equal(numbers, [1, np.nan, np.nan])
    assert strange.tolist() == [False, False, True]


def test_days_of_dates_times_and_texts():
    noon = datetime(1970, 1, 2, 12, tzinfo=UTC)
    given = np.array([date(1970, 1, 2), noon, "1970-01-03", None, "soon", 5], dtype=object)
    days, strange = as_days(given, [])
    np.testing.assert_array_equal(days, [1.0, 1.5, 2.0, np.nan, np.nan, np.nan])
    assert strange.tolist() == [False, False, False, False, True, True]
    # By its own clock, in whatever container, as a typed column has it.
    written = ["1970-01-02 12:00:00+02:00", "1970-01-02T12:00Z", "1970-01-02T12:00:00.0-0330", noon]
    typed = pd.Series(pd.to_datetime(written[:1])).dt.tz_convert("Europe/Berlin")
    np.testing.assert_array_equal(as_days(np.array(written, dtype=object), [])[0], [1.5] * 4)
    assert as_days(column_values(pd.DataFrame({"day": typed}), "day", 0), [])[0] == 1.5 - 1 / 24
    stamps = np.array(["1970-01-02T06", "NaT"], dtype="datetime64[ns]")
    np.testing.assert_array_equal(as_days(stamps, [])[0], [1.25, np.nan])
    with pytest.raises(ValueError, match="date") as caught:
        day_of("Ada's birthday")
    assert "Ada" not in str(caught.value)


def test_words():
    assert as_words(np.array(["a b", None, "n/a", 3], dtype=object), ["n/a"]) == [
        "a b",
        None,
        None,
        "3",
    ]


@pytest.mark.parametrize(
    "values",
    [
        [1, True, 0, False, 1.0, "1", "True", np.True_],
        [Decimal("1.0"), 1, Decimal("0.50"), 0.5, Decimal("0.5")],
    ],
)
def test_a_rows_code_depends_on_the_row_alone(values):
    """Python takes 1 for True: the code of one must not be what another row was given."""
    categories, missing = (0, 1, 0.5), ("True",)
    alone = [as_codes(np.array([one], dtype=object), categories, missing)[0] for one in values]
    for order in (values, values[::-1]):
        together = as_codes(np.array(order, dtype=object), categories, missing)
        assert dict(zip(map(repr, order), together, strict=True)) == dict(
            zip(map(repr, values), alone, strict=True)
        )


def test_a_whole_number_beyond_a_double_is_no_number():
    numbers, strange = as_numbers(np.array([10**400, 3], dtype=object), ())
    assert np.isnan(numbers[0])
    assert strange.tolist() == [True, False]


@pytest.mark.parametrize("cell", [[1, 2], {"a": 3}, ("a", [1]), np.arange(2)])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_cells_that_hold_several_values_name_their_column(library, cell):
    column = pl.Series([cell, cell], dtype=pl.Object) if library is pl.DataFrame else [cell, cell]
    with pytest.raises(TypeError, match="Column parts holds"):
        column_values(library({"age": [1, 2], "parts": column}), "parts", 1)


def test_a_moment_is_read_by_its_own_clock_whatever_the_other_rows_say():
    moment = datetime(2020, 1, 1, 23, tzinfo=UTC)
    both = np.array([moment, moment.astimezone(timezone(timedelta(hours=9)))], dtype=object)
    days = as_days(both, ())[0]
    assert days[0] != days[1]
    np.testing.assert_array_equal(as_days(both[::-1], ())[0], days[::-1])
