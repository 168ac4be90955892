"""scikit-learn's own checks: seeded with no exception, and as used in production."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Parameters, Subsets
from tests.scikit_learn_checks import Checks, checks_of, run

LINEAR = LinearSVC()
WRAPPED = [
    LINEAR,
    Ridge(),
    LogisticRegression(solver="liblinear"),
    StandardScaler(),
    PCA(n_components=1),
    KMeans(n_clusters=3, n_init=1),
    make_pipeline(StandardScaler(), LinearSVC()),
]

pytestmark = [
    # The seeded runs warn on purpose; checks of scikit-learn mute their own estimators only.
    pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def every_check(random_state: int | None) -> Checks:
    # Some checks give so few rows that seven distinct subsets are left, less than two nats.
    options = {
        "budget": Nats(2.0, allow_exact=True),
        "secret": Subsets(8),
        "random_state": random_state,
    }
    return checks_of(
        {
            type(model).__name__: PACPrivate(
                clone(model), release=Parameters(certify=model is LINEAR), **options
            )
            for model in WRAPPED
        }
    )


SECURE, SEEDED = every_check(None), every_check(0)
# Checks that fit twice and compare have the tag non_deterministic skip them: they run seeded, and
# the others of one model do so too.
ONCE_MORE = {
    name: pair
    for name, pair in SEEDED.items()
    if name not in SECURE or name.startswith("LinearSVC")
}


# A check that fails is repaired in the code, never excused here.
@run(ONCE_MORE, again=SECURE)
def test_seeded_noise_passes_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


@run(SECURE)
def test_secure_noise_passes_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


def test_the_tag_says_whether_two_fits_agree() -> None:
    assert PACPrivate(Ridge()).__sklearn_tags__().non_deterministic
    assert not PACPrivate(Ridge(), random_state=0).__sklearn_tags__().non_deterministic
