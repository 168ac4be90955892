"""Tables on which libraries are compared hold none of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.joint.public_table import public_codes, public_table

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_a_function_of_columns_and_types_alone() -> None:
    generator = np.random.default_rng(0)
    made = [public_table(generator.normal(size=(n, 3)), 50)[0] for n in (10, 20)]
    assert np.array_equal(*made)
    frame = pd.DataFrame(
        {"a": [1.5, 2.5], "b": np.array([1, 2], dtype=np.int8), "c": [0.5, np.nan]}
    )
    table, score = public_table(frame, 40, gaps=True)
    assert table.dtypes.equals(frame.dtypes)
    assert table.columns.equals(frame.columns)
    assert table.isna().sum().tolist() == [2, 0, 2]
    assert np.isfinite(score).all()


@pytest.mark.parametrize("n_classes", [2, 7, 50])
def test_every_class_has_rows(n_classes: int) -> None:
    score = np.random.default_rng(0).normal(size=2 * n_classes)
    assert np.bincount(public_codes(score, n_classes), minlength=n_classes).min() > 0
