"""Rows made up from a codebook: only what is public, or was released, decides them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacsklearn.tabular import Column, Schema, SchemaQueries

SCHEMA = Schema(
    [
        Column("age", low=0, high=100),
        Column("ward", "category", categories=("north", "south", "west"), missing=("?",)),
        Column("number", "ignored"),
        Column("since", "date", low="2020-01-01", high="2021-01-01"),
    ]
)
ROWS = pd.DataFrame(
    {
        "age": [1, 30, 30, 99],
        "ward": ["north", "?", "south", "north"],
        "number": [1, 2, 3, 4],
        "since": pd.to_datetime(["2020-01-02", "2020-12-30", "2020-06-01", "2020-06-02"]),
    }
)


def test_uniform_rows_are_inside_the_public_ranges() -> None:
    rows = SchemaQueries(SCHEMA, n_queries=4000).rows(like=ROWS)
    assert list(rows.columns) == list(ROWS.columns)
    assert rows["age"].dtype == ROWS["age"].dtype
    assert rows["age"].between(0, 100).all()
    assert rows["since"].between("2020-01-01", "2021-01-01").all()
    assert rows["number"].isna().all()
    shares = rows["ward"].value_counts(normalize=True)
    assert set(shares.index) == {"north", "south", "west"}
    assert np.abs(shares - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 4000)


def test_measured_shares_by_hand() -> None:
    shares = SchemaQueries(SCHEMA, n_bins=4).measured(ROWS)
    assert shares.tolist() == [
        *[1 / 4, 2 / 4, 0, 1 / 4],
        *[2 / 3, 1 / 3, 0],
        *[1 / 4, 2 / 4, 0, 1 / 4],
    ]


def test_rows_follow_released_shares_and_nothing_else() -> None:
    queries = SchemaQueries(SCHEMA, "private", n_bins=4, n_queries=500)
    released = np.array([0, 0, 1.0, 0, -5, 0, 2, 0.5, 0.5, -1, 0])
    rows = queries.rows(released, ROWS)
    assert rows["age"].between(50, 75).all()
    assert set(rows["ward"]) == {"west"}
    assert (rows["since"] < "2020-07-02").all()
    assert rows.equals(queries.rows(released, ROWS.iloc[:1]))
    drowned = queries.rows(np.full(11, -1.0), ROWS)  # all noise: uniform, not an error
    assert set(drowned["ward"]) == {"north", "south", "west"}


def test_public_marginals_and_arrays() -> None:
    schema = SCHEMA.select(["age"])
    queries = SchemaQueries(schema, {"age": [0, 1]}, n_bins=2, n_queries=50)
    rows = queries.rows(like=np.zeros((3, 1)))
    assert rows.shape == (50, 1)
    assert rows.dtype == float
    assert rows.min() >= 50
    whole = queries.rows(like=np.zeros((3, 1), dtype=int))
    assert np.array_equal(whole, np.rint(whole))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"marginals": {"ward": [1, 2]}}, "shares"),
        ({"marginals": {"ward": [0, 0, 0]}}, "shares"),
        ({"marginals": "public"}, "mapping"),
        ({"share": 1.0}, "strictly"),
        ({"n_queries": 0}, "n_queries"),
    ],
)
def test_what_queries_refuse(given: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        SchemaQueries(SCHEMA, **given)


def test_text_cannot_be_made_up() -> None:
    with pytest.raises(ValueError, match="text"):
        SchemaQueries(Schema([Column("note", "text")]))
