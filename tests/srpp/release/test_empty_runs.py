"""A run whose budget excludes no attack needs consent, and is never published."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pacsklearn.exceptions import BudgetError
from pacsklearn.srpp import DifferingRows, NoiseMultiplier, Renyi, SRPPSGDClassifier
from pacsklearn.srpp.scenarios.stated_scenario import pair_success

X = np.random.default_rng(0).normal(size=(200, 3))
Y = (X[:, 0] > 0).astype(int)


def private(budget):
    scenario = DifferingRows(1)
    return SRPPSGDClassifier(budget=budget, scenario=scenario, classes=[0, 1], batches=50, epochs=2)


@pytest.mark.parametrize(
    "kind", [lambda **consent: Renyi(1e3, **consent), lambda **c: NoiseMultiplier(0.01, **c)]
)
def test_a_run_that_hides_nothing_needs_consent(kind):
    with pytest.raises(BudgetError, match="allow_exact"):
        private(kind()).fit(X, Y)
    stated = private(kind(allow_exact=True)).fit(X, Y).guarantee_
    assert str(stated.status).startswith("HIDES NOTHING")
    assert not stated.status.for_release


def test_below_it_a_run_is_proved():
    stated = private(Renyi(31.0)).fit(X, Y).guarantee_
    assert stated.status.for_release
    assert 0.9 < stated.secret.pair_success < 0.9999


@pytest.mark.parametrize("shift", [0.01, 0.5, 2.0, 6.0])
def test_the_bound_is_above_what_two_normal_laws_attain(shift):
    assert norm.cdf(shift / 2) <= pair_success(shift**2 / 2) <= 1.0
    assert pair_success(0.0) == 0.5
    assert math.isclose(pair_success(7.8241), 0.9999, abs_tol=1e-6)
