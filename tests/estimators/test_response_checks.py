"""scikit-learn's own checks of estimators that release answers."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacsklearn import PACPrivate

pytestmark = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")

# Plenty of budget: the checks look at the interface. Above ln(8) nats answers are exact.
ENOUGH = {"budget": 100.0, "allow_exact": True, "max_answers": 40, "n_subsets": 8}


def private(random_state: int | None) -> list[PACPrivate]:
    return [
        PACPrivate(KNeighborsClassifier(3), random_state=random_state, **ENOUGH),
        PACPrivate(SVC(), random_state=random_state, **ENOUGH),
        PACPrivate(
            KNeighborsRegressor(3),
            random_state=random_state,
            value_range=(-1000.0, 1000.0),
            **ENOUGH,
        ),
    ]


def excused(estimator: PACPrivate) -> dict[str, str]:
    if isinstance(estimator.estimator, SVC):
        return {
            "check_classifiers_one_label_sample_weights": "SVC itself refuses weights that leave "
            "one class; what it says may quote rows and is withheld, so sample_weight is not named"
        }
    return {}


def listed(mark: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Give newer versions of pytest a list where scikit-learn 1.6 gives a generator."""
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@listed(parametrize_with_checks(private(random_state=0), expected_failed_checks=excused))
def test_seeded_answers_pass_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


# Checks that fit twice and compare are skipped by the tag non_deterministic.
@listed(parametrize_with_checks(private(random_state=None)[:1], expected_failed_checks=excused))
def test_secure_answers_pass_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)
