"""Targets accept budgets and nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pacsklearn.core.target import Target
from pacsklearn.exceptions import BudgetError


@pytest.mark.parametrize("budget", [1, 1 / 64, Fraction(1, 64), np.float32(0.5), 1e-15, 1e300])
def test_budgets(budget: float) -> None:
    target = Target(budget)
    assert type(target.budget) is float
    assert target.budget == float(budget)


@pytest.mark.parametrize(
    "budget", [0, -1, np.nan, np.inf, "1", None, True, 1j, [1.0], np.array([1.0])]
)
def test_everything_else(budget: object) -> None:
    with pytest.raises(BudgetError, match="budget must be a positive"):
        Target(budget)  # type: ignore[arg-type]
