"""What a query computes on one data set."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.pufferfish.world_outputs import FunctionQuery

X, Y = np.arange(6.0).reshape(3, 2), np.array([7.0, 8.0, 9.0])


@pytest.mark.parametrize(
    ("function", "takes_y"),
    [
        (lambda X: X.sum(), False),
        (lambda X, y: X.sum() + y.sum(), True),
        (lambda X, y, scale=1.0: X.sum() + y.sum() * scale, True),
        (lambda X, scale=1.0: X.sum() * scale, False),
        (lambda X, *, scale=1.0: X.sum() * scale, False),
        (lambda *data: sum(each.sum() for each in data), True),
    ],
)
def test_a_function_gets_the_target_where_it_has_a_place_for_it(function, takes_y) -> None:
    expected = X.sum() + Y.sum() * takes_y
    assert FunctionQuery(function).fit(X, Y, {}) == expected


def test_a_built_in_function_without_a_signature_gets_the_rows_alone() -> None:
    assert FunctionQuery(max).fit([3.0, 5.0], Y, {}) == 5.0
