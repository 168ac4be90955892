from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from pacsklearn.universe.vector_distances import vector_distances


def exact(x: np.ndarray, y: np.ndarray) -> float:
    """Distance by whole numbers of 2**-1200, rounded once."""
    square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))
    return float(Fraction(isqrt(int(square * 2**2400)), 2**1200))


@pytest.mark.parametrize("seed", range(5))
def test_distances_of_vectors_of_any_size_mixed_in_every_way(seed: int) -> None:
    draw = np.random.default_rng(seed)
    X = np.ldexp(draw.normal(size=(6, 4)), draw.integers(-1000, 1000, (6, 4)))
    Y = np.ldexp(draw.normal(size=(5, 4)), draw.integers(-1000, 1000, (5, 4)))
    Y[0], Y[1] = X[0], X[1]
    Y[1, 2] = np.nextafter(X[1, 2], np.inf)
    found = vector_distances(X, Y)
    wanted = np.array([[exact(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=0)
    assert found[0, 0] == 0 < found[1, 1]


def test_what_is_beyond_a_double_is_infinite() -> None:
    assert vector_distances(np.array([[1.7e308]]), np.array([[-1.7e308]])) == np.inf
