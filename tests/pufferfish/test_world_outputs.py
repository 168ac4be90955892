"""What a query computes on one data set."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.core.canonicalizer import Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import IdentityMetric
from pacsklearn.core.scenario import Law, Worlds
from pacsklearn.exceptions import PacsklearnError
from pacsklearn.pufferfish.world_outputs import FunctionQuery, Query, world_outputs
from pacsklearn.scenarios.row_world import RowWorld

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


class Unaligned(Query):
    """Its numbers cannot be brought into one form, not even several copies of the first."""

    name, released = "Unaligned", ("value",)

    def fit(self, X, y, params):
        return X.sum()

    def encode(self, fitted, X, stage):
        return Encoding(np.array([fitted]), Layout.of({"value": [0.0]}))

    def metric(self, fitted, layout, X, vectors):
        return IdentityMetric()

    def align(self, vectors, layout, rows):
        raise ValueError(f"{vectors[0, 0]} is a secret")

    def decode(self, vector, layout):
        return vector

    def public(self, layout):
        return ()


@pytest.mark.parametrize("some_may_fail", [False, True])
def test_a_first_data_set_that_cannot_be_aligned_is_an_error_that_quotes_nothing(
    some_may_fail,
) -> None:
    rows = tuple(RowWorld(np.array([k, 1])) for k in (0, 2))
    worlds = Worlds(("a", "b"), ("p",), rows, (Law(0, 0, (0,)), Law(1, 0, (1,))), ((0, 1),))
    with pytest.raises(PacsklearnError, match="align") as caught:
        world_outputs(Unaligned(), worlds, X, Y, {}, some_may_fail=some_may_fail)
    assert "secret" not in str(caught.value)
