"""scikit-learn's own checks: seeded with no exception, and as used in production."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_fit_score_takes_y

from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.srpp import (
    LearningRate,
    NoiseMultiplier,
    Penalty,
    Renyi,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from tests.scikit_learn_checks import Checks, checks_of, run

pytestmark = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")


GIVEN_NOISE = {"budget": NoiseMultiplier(1e-3, allow_exact=True), "random_state": 0}
GIVEN_EPSILON = {"budget": Renyi(1e6, allow_exact=True)}


def every_check(options: dict[str, Any]) -> Checks:
    # The number of rows is public, and sets the batches: a row of weight 0 is not no row.
    left_out = ["check_sample_weight_equivalence"]
    if options is GIVEN_EPSILON:
        # It trains on after fit, which has spent epsilon: see the last test.
        left_out.append("check_fit_score_takes_y")
    kinds = (SRPPSGDClassifier, SRPPSGDRegressor)
    every = checks_of({kind.__name__: kind(epochs=20, batches=32, **options) for kind in kinds})
    return {n: pair for n, pair in every.items() if not any(part in n for part in left_out)}


SECURE, SEEDED = every_check(GIVEN_EPSILON), every_check(GIVEN_NOISE)
# Seeded are all checks of the classifier, and those of the regressor that only a seed can pass.
ONCE_MORE = {
    name: pair
    for name, pair in SEEDED.items()
    if name not in SECURE or name.startswith("SRPPSGDClassifier")
}


# A check that fails is repaired in the code, never excused here.
@run(ONCE_MORE, again=SECURE)
def test_seeded_noise_passes_every_check(estimator: Any, check: Any) -> None:
    check(estimator)


@run(SECURE)
def test_secure_noise_passes_every_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [SRPPSGDClassifier, SRPPSGDRegressor])
def test_the_check_left_out_fails_because_the_budget_is_spent(kind: type) -> None:
    with pytest.raises(BudgetExhaustedError):
        check_fit_score_takes_y(kind.__name__, kind(epochs=2))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"learning_rate": 1e300}, "eta0"),
        ({"penalty": Penalty(alpha=1e300)}, "alpha"),
        ({"budget": 1e300}, "epsilon"),
        ({"budget": Renyi(1.0, order=1e300)}, "order"),
        ({"penalty": Penalty(alpha=1e3), "learning_rate": 1.0, "epochs": 200}, "eta0"),
        ({"learning_rate": LearningRate(1e250, momentum=0.9)}, "momentum"),
    ],
)
def test_what_ends_in_no_numbers_is_refused_before_it_is_charged(
    options: dict[str, Any], name: str
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SRPPSGDRegressor(**{"epochs": 2, **options})
    with pytest.raises(ValueError, match=name):
        model.fit(X, X[:, 0])
    assert not hasattr(model, "guarantee_")


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": Penalty(alpha=1.0), "learning_rate": 1.0},
        {"penalty": Penalty(alpha=19.0)},
        {"learning_rate": LearningRate(momentum=0.9), "penalty": Penalty(alpha=0.5)},
        {"penalty": Penalty("l1", alpha=1e3)},
        {"penalty": Penalty(None, alpha=1e300)},
        {"learning_rate": 1e6},
    ],
)
def test_what_stays_finite_is_allowed(options: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SRPPSGDRegressor(epochs=3, **options).fit(X, X[:, 0])
    assert np.isfinite(model.coef_).all()
