"""Labels of all queries in one release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Membership, Nats, PrivacySession, Subsets
from pacsklearn.estimators.answer_kinds import LabelKind
from pacsklearn.estimators.joint_labels import JointLabels
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.noise.noise_law import Target

KIND = LabelKind(np.array(["a", "b", "c"]))
CODES = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [2, 0, 1, 2], [1, 1, 1, 1]])


def joint(codes: Any = CODES) -> JointLabels:
    return JointLabels.of(KIND, codes)


def test_every_candidates_numbers_are_its_labels() -> None:
    vectors = joint().plan(Target(1.0)).values.vectors
    assert vectors.shape == (4, 2 + 3)
    assert vectors[2].tolist() == [0, 1, 0, 1, 0]
    for index in range(4):
        assert joint().labels(vectors[index]).tolist() == ["abc"[i] for i in CODES[:, index]]
    assert joint().n_contested == 2


def test_no_noise_makes_a_label_that_no_candidate_gives() -> None:
    for vector in np.random.default_rng(0).normal(-50, 20, size=(50, 5)):
        labels = joint().labels(vector)
        assert labels[0] == "a"
        assert labels[1] in "ab"
        assert labels[3] == "b"


def test_where_all_agree_nothing_is_noised() -> None:
    agreed = joint(CODES[[0, 3]])
    assert agreed.n_contested == 0
    vectors = agreed.plan(Target(1.0)).values.vectors
    assert vectors.tolist() == [[1.0]] * 4
    assert agreed.labels(vectors[0]).tolist() == ["a", "b"]


def session(y: Any, **params: Any) -> PrivacySession:
    X = np.random.default_rng(1).normal(size=(60, 2))
    return PrivacySession(X, y, secret=Subsets(8), **params)


Y = np.arange(60) % 3


@pytest.mark.parametrize("params", [{"budget": Nats(1.0)}, {"budget": Membership(0.7)}])
def test_one_release_that_says_first_what_has_no_noise(params: Any) -> None:
    queries = np.random.default_rng(2).normal(size=(40, 2))
    with session(Y, **params) as asked:
        release, contested = asked.respond_together(GaussianNB(), queries)
        assert release.value.shape == (40,)
        assert set(release.value) <= {0, 1, 2}
        assert 0 < contested <= 40
        assert "function of the whole table" in release.guarantee.headline
        assert release.guarantee.spent <= params["budget"].amount
        if not params["budget"].adds:
            with pytest.raises(BudgetExhaustedError):
                asked.respond_together(GaussianNB(), queries)


def test_answers_one_by_one_are_still_refused_under_a_cap() -> None:
    with (
        session(Y, budget=Membership(0.7)) as asked,
        pytest.raises(ValueError, match="respond_together"),
    ):
        asked.respond(GaussianNB(), np.zeros((1, 2)), max_answers=1)


def test_only_labels_are_answered_together() -> None:
    with session(Y * 1.5, budget=Nats(1.0)) as asked, pytest.raises(ValueError, match="classifier"):
        asked.respond_together(Ridge(), np.zeros((1, 2)))
