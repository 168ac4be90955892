"""Cost of noise through a linear operator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator

from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.universe.metrics import OperatorMetric, as_metric

L = np.random.default_rng(0).standard_normal((5, 3))
ROWS = np.random.default_rng(1).standard_normal((8, 3))


@pytest.mark.parametrize(
    "operator",
    [L, csr_matrix(L), LinearOperator((5, 3), matvec=lambda b: L @ b, dtype=np.float64)],
    ids=["array", "sparse", "operator"],
)
def test_equal_to_the_matrix_it_stands_for(operator: object) -> None:
    metric = OperatorMetric(operator)
    np.testing.assert_allclose(metric.root(ROWS), ROWS @ L.T)
    laws = [
        LogdetBackend().calibrate(Support(ROWS), Target(0.5), cost)
        for cost in (metric, as_metric(L.T @ L))
    ]
    assert laws[0].noise_power == pytest.approx(laws[1].noise_power)


def test_users_give_operators_as_they_are() -> None:
    assert isinstance(as_metric(csr_matrix(L)), OperatorMetric)
    assert isinstance(as_metric(LinearOperator((5, 3), matvec=lambda b: L @ b)), OperatorMetric)


def test_bad_operators() -> None:
    with pytest.raises(TypeError, match="operator"):
        OperatorMetric("no operator")
    with pytest.raises(ValueError, match="operator"):
        OperatorMetric(np.array([[1j]]))
    for wrong in (ROWS[:, :2], ROWS[:, [0, 1, 2, 2]]):
        with pytest.raises(
            ValueError, match=f"of length 3, the released vector has {wrong.shape[1]}"
        ):
            OperatorMetric(L).root(wrong)
    broken = LinearOperator((1, 3), matvec=lambda b: np.array([np.nan]), dtype=np.float64)
    with pytest.raises(ValueError, match="finite"):
        OperatorMetric(broken).root(ROWS)
