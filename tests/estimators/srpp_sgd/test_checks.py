"""scikit-learn's own checks: seeded with no exception, and as used in production."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_fit_score_takes_y, estimator_checks_generator

from pacsklearn import SRPPSGDClassifier, SRPPSGDRegressor
from pacsklearn.exceptions import BudgetExhaustedError

pytestmark = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")


GIVEN_NOISE = {"noise_multiplier": 1e-3, "random_state": 0}
GIVEN_EPSILON = {"epsilon": 1e6}


def every_check(options: dict[str, Any]) -> pytest.MarkDecorator:
    pairs, names = [], []
    for kind in (SRPPSGDClassifier, SRPPSGDRegressor):
        estimator = kind(max_iter=20, batch_size=32, **options)
        for pair in estimator_checks_generator(estimator):
            name = check_name(pair[1])
            # It trains on after fit, which has spent epsilon: see the last test.
            spent = "epsilon" in options and name == "check_fit_score_takes_y"
            # The number of rows is public, and sets the batches: a row of weight 0 is not no row.
            if not spent and not name.startswith("check_sample_weight_equivalence"):
                pairs.append(pair)
                names.append(f"{kind.__name__}-{name}")
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=names)


def check_name(check: Any) -> str:
    return check_name(check.func) if isinstance(check, partial) else check.__name__


# A check that fails is repaired in the code, never excused here.
@every_check(GIVEN_NOISE)
def test_seeded_noise_passes_every_check(estimator: Any, check: Any) -> None:
    check(estimator)


@every_check(GIVEN_EPSILON)
def test_secure_noise_passes_every_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [SRPPSGDClassifier, SRPPSGDRegressor])
def test_the_check_left_out_fails_because_the_budget_is_spent(kind: type) -> None:
    with pytest.raises(BudgetExhaustedError):
        check_fit_score_takes_y(kind.__name__, kind(max_iter=2))
