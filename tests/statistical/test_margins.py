"""Answers that pass the test of Proposition 5.1 are seldom wrong.

Error rate: each check fails by chance with probability below 3e-7 (five standard deviations).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.belief import uniform_belief
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

pytestmark = pytest.mark.statistical

N = 40_000


@pytest.mark.soak
@pytest.mark.parametrize("alpha", [0.01, 0.1])
@pytest.mark.parametrize("budget", [2.0**-18, 2.0**-13])
@pytest.mark.parametrize("dissent", [[1], [1] * 4, [1, 2], [1, 1, 2, 3]])
def test_mislabelled_and_kept_at_most_alpha(
    dissent: list[int], budget: float, alpha: float
) -> None:
    m, rng = 8, np.random.default_rng(len(dissent))
    codes = np.zeros((N, m), dtype=np.uint8)
    codes[:, : len(dissent)] = dissent
    codes = rng.permuted(codes, axis=1)
    noise = np.rint(rng.normal(0, LATTICE_SCALE, 4 * N)).astype(np.int64)
    told = LabelEngine().answer(codes, 0, uniform_belief(m), budget, noise)
    assert told.answers.shape == (N,)
    kept = told.margins >= ndtri(1 - alpha)
    wrong = kept & (told.answers != codes[:, 0])
    assert wrong.sum() <= N * alpha + 5 * math.sqrt(N * alpha * (1 - alpha))
    if set(dissent) == {1} and budget < 2.0**-15:
        assert wrong.sum() >= N * alpha / 2, "with two labels and little budget the test is tight"
