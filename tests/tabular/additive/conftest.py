"""A small mixed table with a curve, a category and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacsklearn.tabular import Column, Schema

pd = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture(scope="session")
def codebook() -> Schema:
    return Schema(
        [
            Column("age", low=0, high=100),
            Column("ward", "category", categories=("north", "south", "east")),
            Column("stage", "category", categories=(1, 2, 3), ordered=True),
        ]
    )


@pytest.fixture(scope="session")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    n = 400
    age, stage = rng.uniform(0, 100, n), rng.integers(1, 4, n)
    ward = rng.choice(["north", "south", None], n)
    score = np.abs(age - 50) / 10 + (ward == "south") + stage - 5 + rng.normal(size=n)
    frame = pd.DataFrame({"age": np.where(age > 97, np.nan, age), "ward": ward, "stage": stage})
    return frame, score
