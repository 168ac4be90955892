"""What a canonicalizer of one's own gets for free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from pacsklearn import Canonicalizer, Encoding, Layout
from pacsklearn.core.metric import IdentityMetric


class Slope(Canonicalizer):
    """Only what is required."""

    def encode(self, estimator: Any, X: Any) -> Encoding:
        layout = Layout.of({"coef": estimator.coef_})
        return Encoding(layout.pack({"coef": estimator.coef_}), layout)

    def decode(self, vector: Any, layout: Layout, template: Any) -> Any:
        template.coef_, template.intercept_ = layout.unpack(vector)["coef"], 0.0
        return template


def test_defaults() -> None:
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 2.0, 4.0])
    slope = Slope.for_estimator(LinearRegression(), lambda part: pytest.fail("it has no parts"))
    vector, layout = slope.encode(LinearRegression().fit(X, y), X)
    assert slope.methods == ("predict",)
    assert slope.is_exact
    assert slope.align(vector[None, :], layout) is not None
    assert isinstance(slope.metric(layout, None, X, vector[None, :]), IdentityMetric)
    released = slope.decode(vector, layout, LinearRegression())
    assert slope.behaviour(released, X) == pytest.approx(y)


def test_behaviour_of_a_transformer_is_what_it_transforms() -> None:
    X = np.array([[1.0], [3.0]])
    assert Slope().behaviour(StandardScaler().fit(X), X).tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("missing", ["encode", "decode"])
def test_encode_and_decode_are_required(missing: str) -> None:
    methods = {"encode": Slope.encode, "decode": Slope.decode}
    del methods[missing]
    with pytest.raises(TypeError, match=missing):
        type("Half", (Canonicalizer,), methods)()
