"""Students of private answers: sure labels, the session's promise, and no private row."""

from __future__ import annotations

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Answers, Nats, PACPrivate, PrivacySession, Subsets
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.belief import uniform_belief
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.priors import Range
from pacsklearn.tabular import distill

M = 8


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return make_classification(300, 4, n_redundant=0, flip_y=0.2, random_state=6)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.01])
@pytest.mark.parametrize(
    "labels",
    [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1, 2, 2], [*range(8)]],
    ids=["even", "one against seven", "three labels", "eight labels"],
)
@pytest.mark.parametrize("budget", [1 / 64, 1 / 2])
def test_wrong_labels_are_kept_no_more_often_than_alpha(
    labels: list[int], alpha: float, budget: float
) -> None:
    """Proposition 5.1, for each true label; noise is seeded, so nothing flakes."""
    n = 800
    codes = np.array([labels], dtype=np.uint8)
    generator = np.random.default_rng(11)
    for secret in sorted({labels.index(label) for label in labels}):
        noise = SeededSampler(generator).noise(8 * n).reshape(n, 8)
        wrong = 0
        for drawn in noise:
            told = LabelEngine().answer(codes, secret, uniform_belief(M), budget, drawn)
            kept = told.margins[0] >= norm.isf(alpha / (len(set(labels)) - 1))
            wrong += int(kept and told.answers[0] != labels[secret])
        # Were the rate alpha, more than this would be seen once in 10,000 runs.
        assert wrong <= binom.isf(1e-4, n, alpha)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_what_is_kept_is_what_passes(rows: Any) -> None:
    X, y = rows
    teacher = PACPrivate(
        KNeighborsClassifier(3),
        budget=Nats(4.0, allow_exact=True),
        release=Answers(query_budget=0.5),
        secret=Subsets(M, seed=0),
        random_state=0,
    ).fit(X[:100], y[:100])
    everything = distill(teacher, GaussianNB(), X[100:200], alpha=None)
    sure = distill(teacher, GaussianNB(), X[100:200], alpha=0.01)
    assert (everything.n_kept, everything.n_public) == (100, 100)
    assert 0 < sure.n_kept < 100
    assert (sure.n_public, sure.alpha) == (100, 0.01)
    # Asking again was free: the rows were answered before.
    assert teacher.answers_given_ == 200
    told = teacher.responder().answer(X[100:200])
    assert sure.n_kept == int((told.margins >= 2.3263478740408408).sum())


def test_a_student_inherits_the_guarantee_and_no_row(rows: Any) -> None:
    X, y = rows
    teacher = PACPrivate(KNeighborsClassifier(3), release=Answers(300), secret=Subsets(M))
    teacher.fit(X[:100], y[:100])
    model = distill(teacher, KNeighborsClassifier(1), X[100:], alpha=None)
    assert model.guarantee == teacher.guarantee_
    assert model.guarantee.budget == 1 / 16
    assert type(model.estimator) is KNeighborsClassifier
    assert model.estimator.n_samples_fit_ == 200
    content = pickle.dumps(model)
    assert X[150].tobytes() in content  # public
    assert not any(row.tobytes() in content for row in X[:100])
    assert pickle.loads(content).guarantee == model.guarantee


def test_every_source(rows: Any) -> None:
    X, y = rows
    with PrivacySession(X[:100], y[:100], budget=0.5, secret=Subsets(M)) as session:
        by_session = distill(
            session,
            LogisticRegression(),
            X[100:],
            alpha=None,
            estimator=GaussianNB(),
            query_budget=1 / 512,
        )
        responder = session.responder(GaussianNB(), query_budget=1 / 512)
        spent = session.ledger.spent
        by_responder = distill(responder, LogisticRegression(), X[100:].tolist(), alpha=None)
        assert session.ledger.spent == spent
        np.testing.assert_array_equal(by_session.estimator.coef_, by_responder.estimator.coef_)
        session_values = PrivacySession(X, X[:, 0], budget=0.5, secret=Subsets(M))
        numbers = distill(
            session_values.responder(Ridge(), max_answers=50, prior=Range(-3, 3)), Ridge(), X[:50]
        )
        assert numbers.n_kept == 50


def test_errors(rows: Any) -> None:
    X, y = rows
    student = LogisticRegression()
    teacher = PACPrivate(KNeighborsClassifier(1), release=Answers(1000), secret=Subsets(M))
    teacher.fit(X[:100], y[:100])
    for alpha in (0, 1, -0.1, "a", np.nan):
        with pytest.raises(ValueError, match="alpha"):
            distill(teacher, student, X[100:], alpha=alpha)
    assert teacher.answers_given_ == 0
    asked = (row for row in X[100:] if teacher.preview(row[None]).n_contested == 1)
    contested = np.stack([*islice(asked, 3)])
    with pytest.raises(ValueError, match="public"):
        distill(teacher, student, contested, alpha=1e-12)
    session = PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(M))
    with pytest.raises(ValueError, match="estimator"):
        distill(session, student, X)
    with pytest.raises(ValueError, match="session"):
        distill(teacher, student, X, estimator=student)
    with pytest.raises(TypeError, match="LogisticRegression"):
        distill(student, student, X)
    poor = PACPrivate(KNeighborsClassifier(1), release=Answers(2), secret=Subsets(M)).fit(
        X[:100], y[:100]
    )
    with pytest.raises(BudgetExhaustedError):
        distill(poor, student, X[100:])
    poor.set_params(budget=Nats(1)).fit(X[:100], y[:100])
    with pytest.raises(BudgetError, match="would hide nothing"):
        distill(poor, student, X[100:])
    assert poor.answers_given_ == 0
