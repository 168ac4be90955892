"""Engines without numba: the same integers, charges, margins and beliefs, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacsklearn.kernel.answers.engine import StepAnswers
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from tests.kernel.answers.test_label_engine import random_problem
from tests.kernel.answers.test_value_engine import random_arguments
from tests.references import by_loops, by_reference


def assert_same(work: Callable[[], StepAnswers]) -> None:
    loops, reference = by_loops(work), by_reference(work)
    assert loops.noise_used == reference.noise_used
    for name in ("answers", "charges", "margins", "log_belief", "deviations"):
        one, other = getattr(loops, name), getattr(reference, name)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize("seed", range(4))
def test_labels_without_numba(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(150):
        problem = random_problem(rng)
        assert_same(partial(problem.ask, LabelEngine().answer))


@pytest.mark.product(only=2)
@pytest.mark.parametrize("seed", range(4))
def test_values_without_numba(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        arguments, options = random_arguments(rng)
        assert_same(partial(ValueEngine().answer, *arguments, **options))


logs = st.floats(-800, 0) | st.sampled_from([0.0, -1e-300, -745.2, -np.inf])
budgets = st.floats(-828, 1).map(lambda power: 2.0**power)


@given(st.data())
@settings(max_examples=100)
def test_any_labels_without_numba(data: Any) -> None:
    m, n = data.draw(st.integers(2, 9)), data.draw(st.integers(0, 4))
    belief = [0.0, *data.draw(st.lists(logs, min_size=m - 1, max_size=m - 1))]
    code = st.integers(0, 5)
    codes = np.array([data.draw(st.lists(code, min_size=m, max_size=m)) for _ in range(n)])
    noise = data.draw(st.lists(st.integers(-(2**26), 2**26), max_size=20))
    assert_same(
        partial(
            LabelEngine().answer,
            codes.reshape(n, m).astype(np.uint8),
            0,
            belief,
            data.draw(budgets),
            np.array(noise, dtype=np.int64),
            scale=data.draw(st.sampled_from([1, 8, LATTICE_SCALE])),
        )
    )


@given(st.data())
@settings(max_examples=100)
def test_any_values_without_numba(data: Any) -> None:
    m, d = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 3))
    belief = [0.0, *data.draw(st.lists(logs, min_size=m - 1, max_size=m - 1))]
    number = st.floats(-1e150, 1e150) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1 + 2.0**-52])
    values = data.draw(st.lists(number, min_size=2 * m * d, max_size=2 * m * d))
    noise = data.draw(st.lists(st.integers(-(2**26), 2**26), max_size=8))
    assert_same(
        partial(
            ValueEngine().answer,
            np.array(values).reshape(2, m, d),
            0,
            belief,
            data.draw(budgets),
            np.array(noise, dtype=np.int64),
        )
    )
