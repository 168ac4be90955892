"""What a canonicalizer of one's own gets for free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import Canonicalizer, Encoding, Layout


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


ARRAYS: dict[str, Any] = {"weights": np.arange(6.0).reshape(2, 3), "scale": 7.0, "none": np.ones(0)}


def test_pack_and_unpack_are_inverse() -> None:
    layout = Layout.of(ARRAYS)
    vector = layout.pack(ARRAYS)
    assert layout.size == vector.size == 7
    assert vector.dtype == np.float64
    back = layout.unpack(vector)
    assert list(back) == ["weights", "scale", "none"]
    for name, array in ARRAYS.items():
        assert np.array_equal(back[name], array)
        assert back[name].shape == np.shape(array)


def test_vectors_share_no_memory_with_what_is_packed_or_unpacked() -> None:
    array = np.arange(3.0)
    layout = Layout.of({"a": array})
    vector = layout.pack({"a": array})
    assert not np.shares_memory(vector, array)
    assert not np.shares_memory(layout.unpack(vector)["a"], vector)


def test_children_stand_behind_the_blocks_in_order() -> None:
    inner = Layout.of({"x": np.zeros(2)})
    outer = Layout(
        blocks=(("own", (3,)),),
        children=(("first", inner), ("second", Layout(children=(("deep", inner),)))),
    )
    assert outer.size == 7
    assert outer.slices() == {"own": slice(0, 3), "first": slice(3, 5), "second": slice(5, 7)}
    vector = outer.pack({"second": [5, 6], "own": [0, 1, 2], "first": [3, 4]})
    assert vector.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert outer.unpack(vector)["second"].tolist() == [5, 6]


@settings(max_examples=50, derandomize=True)
@given(
    shapes=st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), max_size=5),
    seed=st.integers(0, 1000),
)
def test_any_shapes_round_trip(shapes: list[tuple[int, ...]], seed: int) -> None:
    generator = np.random.default_rng(seed)
    arrays = {str(i): generator.normal(size=shape) for i, shape in enumerate(shapes)}
    layout = Layout.of(arrays)
    back = layout.unpack(layout.pack(arrays))
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)
    assert layout.size == sum(array.size for array in arrays.values())


def test_facts() -> None:
    layout = Layout.of({}, classes_=np.array(["a", "b"]), n_features_in_=3)
    assert layout.size == 0
    assert layout.pack({}).shape == (0,)
    assert layout.fact("n_features_in_") == 3
    with pytest.raises(KeyError):
        layout.fact("missing")


BASE = Layout.of({"w": np.zeros((2, 3))}, classes_=np.array([0, 1]), flag=True)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (Layout.of({"w": np.zeros((2, 3))}, flag=True, classes_=np.array([0, 1])), []),
        (
            Layout.of({"w": np.zeros((3, 3))}, classes_=np.array([0, 1]), flag=True),
            ["w: shape (2, 3) against (3, 3)"],
        ),
        (
            Layout.of({"v": np.zeros(2)}, classes_=np.array([0, 1]), flag=True),
            ["v: shape absent against (2,)", "w: shape (2, 3) against absent"],
        ),
        (
            Layout.of({"w": np.zeros((2, 3))}, classes_=np.array([0, 2]), flag=True),
            ["classes_ differs"],
        ),
        (Layout.of({"w": np.zeros((2, 3))}, classes_=np.array([0, 1])), ["flag differs"]),
        (
            Layout.of({"w": np.zeros((2, 3))}, classes_=np.array([0, 1]), flag=1),
            ["flag differs"],
        ),
    ],
)
def test_differences_are_named_without_values(other: Layout, expected: list[str]) -> None:
    assert BASE.differences(other) == expected


def test_differences_of_children_say_where() -> None:
    deep = Layout(children=(("model", Layout.of({"w": np.zeros(2)}, depth=4)),))
    other = Layout(children=(("model", Layout.of({"w": np.zeros(2)}, depth=5)),))
    assert Layout(children=(("step", deep),)).differences(Layout(children=(("step", other),))) == [
        "step.model.depth differs"
    ]
    assert deep.differences(Layout()) == ["model is present in one subset only"]
