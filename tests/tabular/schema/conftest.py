"""One mixed table in every container, and its codebook."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.tabular import Column, Schema

pd = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture
def codebook() -> Schema:
    return Schema(
        [
            Column("age", low=0, high=100, required=True),
            Column("income", low=0, high=1e6, scale="log", missing=(-9,)),
            Column("ward", "category", categories=("north", "south", "east"), missing=("?",)),
            Column("grade", "category", categories=("low", "mid", "high"), ordered=True),
            Column("smoker", "boolean", categories=("no", "yes")),
            Column("seen", "date", low="2020-01-01", high="2024-12-31"),
            Column("note", "text"),
            Column("id", "ignored"),
        ]
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": ["p1", "p2", "p3", "p4"],
            "age": [50, 0, 100, 130],
            "income": [0.0, -9.0, 999.0, np.nan],
            "ward": ["north", "?", None, "mars"],
            "grade": pd.Categorical(["low", "high", None, "mid"]),
            "smoker": ["yes", "no", None, "perhaps"],
            "seen": pd.to_datetime(["2020-01-01", None, "2024-12-31", "2030-01-01"]),
            "note": ["Cough, cough and fever", "", None, "fever"],
        }
    )
