"""scikit-learn's own checks: seeded with no exception, and as used in production."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from pacsklearn import PACPrivate

WRAPPED = [
    LinearSVC(),
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


def every_check(random_state: int | None) -> pytest.MarkDecorator:
    """As ``parametrize_with_checks``, whose generator of 1.6 newer versions of pytest refuse."""
    pairs, names = [], []
    for model in WRAPPED:
        # Some checks give so few rows that seven distinct subsets are left, less than two nats.
        options = {"budget": 2.0, "n_subsets": 8, "allow_exact": True}
        estimator = PACPrivate(clone(model), random_state=random_state, **options)
        for pair in estimator_checks_generator(estimator):
            pairs.append(pair)
            names.append(f"{type(model).__name__}-{check_name(pair[1])}")
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=names)


def check_name(check: Any) -> str:
    return check_name(check.func) if isinstance(check, partial) else check.__name__


# A check that fails is repaired in the code, never excused here.
@every_check(random_state=0)
def test_seeded_noise_passes_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


# Checks that fit twice and compare are skipped by the tag non_deterministic; none may fail.
@every_check(random_state=None)
def test_secure_noise_passes_every_check(estimator: PACPrivate, check: Any) -> None:
    check(estimator)


def test_the_tag_says_whether_two_fits_agree() -> None:
    assert PACPrivate(Ridge()).__sklearn_tags__().non_deterministic
    assert not PACPrivate(Ridge(), random_state=0).__sklearn_tags__().non_deterministic
