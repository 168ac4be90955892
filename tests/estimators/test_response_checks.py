"""scikit-learn's own checks of estimators that release answers."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import is_regressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

from pacsklearn import Answers, Nats, PACPrivate, Subsets
from pacsklearn.priors import Range
from tests.scikit_learn_checks import Checks, checks_of, run

pytestmark = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")

# Plenty of budget: the checks look at the interface. Above ln(8) nats answers are exact.
ENOUGH = {"budget": Nats(100.0, allow_exact=True), "secret": Subsets(8)}


RANGE = (-1000.0, 1000.0)
EXCUSED = {
    "SVC-check_classifiers_one_label_sample_weights": "SVC itself refuses weights that leave "
    "one class; what it says may quote rows and is withheld, so sample_weight is not named"
}


def every_check(random_state: int | None) -> Checks:
    return checks_of(
        {
            type(model).__name__: PACPrivate(
                model,
                random_state=random_state,
                release=Answers(40, prior=Range(*RANGE) if is_regressor(model) else None),
                **ENOUGH,
            )
            for model in (KNeighborsClassifier(3), SVC(), KNeighborsRegressor(3))
        }
    )


# Checks that fit twice and compare are skipped by the tag non_deterministic: those need a seed.
SECURE = every_check(None)


@run(every_check(0), EXCUSED, again=SECURE)
def test_seeded_answers_pass_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


@run(SECURE, EXCUSED)
def test_secure_answers_pass_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)
