"""The plain definition of private labels against exact arithmetic and integration."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from pacsklearn.kernel.answers.label_engine import LARGEST_CENTRE
from pacsklearn.kernel.bounds.lattice_bound import linear_bound
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from tests.kernel.answers.label_oracle import answer_labels, label_law


def test_charge_is_the_linear_bound_of_the_released_integers() -> None:
    rng = np.random.default_rng(11)
    several = 0
    for _ in range(1000):
        m, budget = int(rng.integers(2, 20)), 2.0 ** rng.uniform(-40, 0)
        weights = rng.dirichlet(np.full(m, rng.choice([0.05, 1.0])))
        weights[rng.random(m) < 0.1] = 0.0
        weights[0] = max(weights[0], 1e-3)
        weights /= weights.sum()
        row = rng.integers(0, int(rng.integers(2, 6)), m).tolist()
        with np.errstate(divide="ignore"):
            law = label_law(row, np.log(weights).tolist(), budget)
        if not law.centres:
            continue
        centres = np.array([law.centre(code) for code in row])
        bound = linear_bound(centres, weights, LATTICE_SCALE)
        assert law.charge == pytest.approx(bound, rel=1e-9)
        if len(law.centres) == 1:
            more = np.where(centres > 0, centres + 1, 0)
            worse = linear_bound(more, weights, LATTICE_SCALE)
            assert worse > budget * (1 - 1e-9), "the largest centre that fits"
        several += len(law.centres) > 1
    assert several > 100


@pytest.mark.parametrize("share", [0.5, 0.1, 0.003])
@pytest.mark.parametrize("budget", [2.0**-16, 2.0**-6, 0.015])
def test_charge_is_above_the_mutual_information_by_integration(share: float, budget: float) -> None:
    law = label_law([0, 1], [math.log1p(-share), math.log(share)], budget)
    (a,) = np.array(law.centres) / LATTICE_SCALE
    x = np.linspace(-12, 12 + a, 400_001)
    two = np.array([1 - share, share])[:, None] * np.exp(-((x - [[0], [a]]) ** 2) / 2)
    two /= math.sqrt(2 * math.pi)
    gain = np.log(two / two.sum(axis=0)) - np.log([[1 - share], [share]])
    information = float(np.sum(two * gain) * (x[1] - x[0]))
    assert information <= law.charge * (1 + 1e-7)
    assert information >= law.charge * (0.999 if budget < 1e-4 and share == 0.5 else 0.1)
    assert law.charge >= 0.98 * budget


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_belief_is_bayes_in_sixty_digits(n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    m = 2 * n_labels
    belief = np.log(rng.dirichlet(np.full(m, 0.5)))
    row = rng.permutation(np.arange(m) % n_labels)
    law = label_law(row.tolist(), belief.tolist(), 0.3)
    noise = np.rint(rng.normal(0, LATTICE_SCALE, len(law.centres))).astype(np.int64)
    told = answer_labels(row[None].astype(np.uint8), 1, belief, 0.3, noise)
    observed = np.array(law.centre(int(row[1]))) + noise
    with localcontext() as context:
        context.prec = 60
        weights = []
        for log, code in zip(belief.tolist(), row.tolist(), strict=True):
            square = sum((int(w) - z) ** 2 for w, z in zip(observed, law.centre(code), strict=True))
            weights.append((Decimal(log) - Decimal(square) / (2 * LATTICE_SCALE**2)).exp())
        exact = [float((weight / sum(weights)).ln()) for weight in weights]
    np.testing.assert_allclose(told.log_belief, exact, rtol=1e-13, atol=1e-15)


def test_more_than_two_labels_with_one_that_hardly_counts() -> None:
    belief = np.array([math.log(0.5), math.log(0.5), -5000.0])
    law = label_law([0, 1, 2], belief.tolist(), 1 / 8)
    assert law.centres[2] == LARGEST_CENTRE
    assert law.charge == pytest.approx(1 / 8, rel=1e-5)
    told = answer_labels(np.array([[0, 1, 2]], dtype=np.uint8), 2, belief, 1 / 8, np.zeros(3, int))
    assert told.answers[0] == 2
    # Their own centres are half a squared noise scale away from what was released.
    assert told.log_belief[2] == pytest.approx(2048 - 5000 + 0.25, rel=1e-8)
