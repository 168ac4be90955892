from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from pacsklearn.universe.frame import as_pandas

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_polars_keeps_names_types_and_gaps():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    table = pl.DataFrame(
        {"n": [1, None], "t": ["x", None], "b": [True, None], "d": [date(2020, 1, 1), None]}
    ).with_columns(e=pl.Series(["u", "v"], dtype=pl.Enum(["v", "u", "w"])))
    found = as_pandas(table)
    assert list(found.columns) == list("ntbde")
    assert found.isna().to_numpy().tolist() == [[False] * 5, [True] * 4 + [False]]
    assert list(found["e"].cat.categories) == ["v", "u", "w"]
    assert found["n"].dtype == np.float64
    assert found["d"].dtype.kind == "M"


def test_arrow_and_everything_else():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert list(as_pandas(pa.table({"a": [1], "b": ["x"]})).columns) == ["a", "b"]
    for other in (np.zeros((2, 2)), [[1]], pd.DataFrame({"a": [1]})):
        assert as_pandas(other) is other


def test_polars_keeps_the_clock_of_a_zone():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    seen = pl.Series([pd.Timestamp("2024-02-29T23"), None]).dt.replace_time_zone("Asia/Tokyo")
    found = as_pandas(pl.DataFrame({"seen": seen}))["seen"]
    assert found.dt.tz_localize(None).tolist() == [pd.Timestamp("2024-02-29T23"), pd.NaT]
