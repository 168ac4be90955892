"""Metrics, against dense quadratic forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.canonical.block_metric import BlockMetric, ScaledMetric
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric, as_metric

Floats = NDArray[np.float64]

ROOT = np.random.default_rng(1).normal(size=(3, 3))
FULL = ROOT.T @ ROOT
FLAT = ROOT[:1].T @ ROOT[:1]
UNITS = np.array([1e-9, 1.0, 1e9])


def block(*matrices: Floats) -> Floats:
    size = sum(len(matrix) for matrix in matrices)
    whole, start = np.zeros((size, size)), 0
    for matrix in matrices:
        stop = start + len(matrix)
        whole[start:stop, start:stop] = matrix
        start = stop
    return whole


@pytest.mark.parametrize(
    ("metric", "matrix"),
    [
        (IdentityMetric(), np.eye(3)),
        (DiagonalMetric(np.array([1.0, 0.0, 9.0])), np.diag([1.0, 0.0, 9.0])),
        (MatrixMetric(FULL), FULL),
        (MatrixMetric(FLAT), FLAT),
        (MatrixMetric(np.zeros((3, 3))), np.zeros((3, 3))),
        (MatrixMetric(FULL, UNITS), FULL * np.outer(UNITS, UNITS)),
        (ScaledMetric(7.0, MatrixMetric(FULL)), 7 * FULL),
        (ScaledMetric(0.0, IdentityMetric()), np.zeros((3, 3))),
        (
            BlockMetric(((1, IdentityMetric()), (2, DiagonalMetric(np.array([2.0, 3.0]))))),
            np.diag([1.0, 2.0, 3.0]),
        ),
        (
            BlockMetric(((3, MatrixMetric(FULL)), (3, ScaledMetric(2.0, MatrixMetric(FLAT))))),
            block(FULL, 2 * FLAT),
        ),
    ],
)
def test_the_root_has_the_length_the_matrix_says(metric: Metric, matrix: Floats) -> None:
    rows = np.random.default_rng(2).normal(size=(5, len(matrix)))
    root = metric.root(rows)
    assert root.shape[0] == 5
    assert root @ root.T == pytest.approx(rows @ matrix @ rows.T, rel=1e-10, abs=1e-12)


def test_a_flat_matrix_has_a_short_root() -> None:
    assert MatrixMetric(FLAT).root(np.eye(3)).shape == (3, 1)


def test_units_keep_directions_that_rounding_would_hide() -> None:
    plain = MatrixMetric(FULL * np.outer(UNITS, UNITS))
    assert plain.root(np.eye(3)).shape[1] < 3
    assert MatrixMetric(FULL, UNITS).root(np.eye(3)).shape[1] == 3


def test_roots_are_linear_and_leave_the_rows_alone() -> None:
    rows = np.random.default_rng(3).normal(size=(4, 3))
    given = rows.copy()
    for metric in (IdentityMetric(), MatrixMetric(FULL), ScaledMetric(2.0, IdentityMetric())):
        assert metric.root(-2 * rows) == pytest.approx(-2 * metric.root(rows))
    assert np.array_equal(rows, given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DiagonalMetric(np.array([1.0, -1.0])), "finite"),
        (lambda: DiagonalMetric(np.array([1.0, np.nan])), "finite"),
        (lambda: DiagonalMetric(np.ones((2, 2))), "vector"),
        (lambda: MatrixMetric(np.ones((2, 3))), "square"),
        (lambda: MatrixMetric(np.ones((3, 2))), "square"),
        (lambda: MatrixMetric(np.ones(3)), "square"),
        (lambda: MatrixMetric(np.ones((0, 0))), "square"),
        (lambda: ScaledMetric(np.inf, IdentityMetric()), "finite"),
        (lambda: MatrixMetric(np.eye(2), np.ones(1)), "length"),
        (lambda: MatrixMetric(np.array([[1.0, 2.0], [0.0, 1.0]])), "symmetric"),
        (lambda: MatrixMetric(np.array([[1.0, np.inf], [np.inf, 1.0]])), "finite"),
        (lambda: MatrixMetric(-np.eye(2)), "positive"),
        (lambda: MatrixMetric(np.diag([1.0, -1e-3])), "positive"),
        (lambda: MatrixMetric(np.eye(2), np.ones(3)), "length"),
        (lambda: MatrixMetric(np.eye(2), np.array([1.0, -1.0])), "finite"),
        (lambda: ScaledMetric(-1.0, IdentityMetric()), "finite"),
        (lambda: ScaledMetric(np.nan, IdentityMetric()), "finite"),
        (lambda: as_metric("autom"), "metric"),
        (lambda: as_metric(3.0), "metric"),
        (lambda: as_metric(np.zeros((2, 2, 2))), "square"),
    ],
)
def test_errors(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "metric",
    [DiagonalMetric(np.ones(3)), MatrixMetric(FULL), BlockMetric(((3, IdentityMetric()),))],
)
@pytest.mark.parametrize("length", [2, 4])
def test_a_metric_of_another_length_is_refused(metric: Metric, length: int) -> None:
    with pytest.raises(ValueError, match=rf"for vectors of length 3, .* has {length} numbers"):
        metric.root(np.zeros((2, length)))


def test_what_users_may_give() -> None:
    metric = MatrixMetric(FULL)
    assert vars(as_metric(metric)) == vars(metric)  # in a copy
    assert isinstance(as_metric(None), IdentityMetric)
    assert isinstance(as_metric([1, 2]), DiagonalMetric)
    assert isinstance(as_metric(np.eye(2)), MatrixMetric)


def test_rounding_below_zero_is_no_negative_eigenvalue() -> None:
    projection = np.eye(40) - np.full((40, 40), 1 / 40)
    assert MatrixMetric(projection).root(np.eye(40)).shape[1] == 39


@pytest.mark.parametrize(("below", "fits"), [(1e-13, True), (1e-9, False)])
def test_how_far_below_zero_is_rounding(below: float, fits: bool) -> None:
    """A thousand times what an eigenvalue of that size is off by, and nothing like a cost."""
    matrix = np.diag([1.0, 1.0, -below])
    if fits:
        assert MatrixMetric(matrix).root(np.eye(3)).shape[1] == 2
    else:
        with pytest.raises(ValueError, match="positive"):
            MatrixMetric(matrix)


def test_cheap_directions_are_kept_and_those_that_may_be_rounding_are_not() -> None:
    eps = np.finfo(float).eps
    assert MatrixMetric(np.diag([1.0, 1.0, 4 * eps])).root(np.eye(3)).shape[1] == 3
    assert MatrixMetric(np.diag([1.0, 1.0, 2 * eps])).root(np.eye(3)).shape[1] == 2
    nearly = np.array([[1.0, 0.5], [0.5 + 1e-9, 1.0]])  # a product's two halves, as computed
    root = MatrixMetric(nearly).root(np.eye(2))
    assert root @ root.T == pytest.approx((nearly + nearly.T) / 2, abs=1e-14)


def test_no_blocks_cost_nothing() -> None:
    rows = np.zeros((4, 0))
    assert BlockMetric(()).root(rows) is rows
