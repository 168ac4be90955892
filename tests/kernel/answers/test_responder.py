"""Private answers: one step a row, charged before they are given."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    Ridge,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.estimators.stored_answers import ResponderState
from pacsklearn.kernel.answers import answered_rows
from pacsklearn.kernel.answers import responder as responder_module
from pacsklearn.kernel.answers.answered_rows import AnsweredRows
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.priors import Range
from tests.inside import candidates_of, noise_of, responders_of, secret_of
from tests.kernel.answers.contested import MODEL, M, session_on


@pytest.mark.product(only=1)
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("answers", ["labels", "probabilities"])
def test_a_batch_is_its_rows_one_by_one(
    rows: Any, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _ = rows
    told = []
    for how in ("at once", "in turns", "row by row"):
        # Noise must come in the same order however it is asked for.
        session = session_on(rows, random_state=4)
        stream = np.random.default_rng(0).normal(0, 2**20, 10_000).astype(np.int64)
        position = [0]

        def take(n: int, stream: Any = stream, position: Any = position) -> Any:
            position[0] += n
            return stream[position[0] - n : position[0]]

        monkeypatch.setattr(noise_of(responders_of(session)), "take", take)
        monkeypatch.setattr(answered_rows, "_LEAST_NOISE", 1)
        if how == "in turns":
            monkeypatch.setattr(responder_module, "_BATCH_ROWS", 7)
        responder = session.responder(GaussianNB(), query_budget=1 / 128, answers=answers)
        # Exactly as much noise as a row needs, so that none is thrown away between the calls.
        monkeypatch.setattr(AnsweredRows, "observe", exactly)
        parts = [X[80:]] if how != "row by row" else [X[i : i + 1] for i in range(80, 160)]
        told.append((np.concatenate([responder.predict(part) for part in parts]), session))
    for values, session in told[1:]:
        np.testing.assert_array_equal(values, told[0][0])
        np.testing.assert_array_equal(
            secret_of(session).log_belief, secret_of(told[0][1]).log_belief
        )


def exactly(plan: Any, law: Any, secret: Any, real: Any = AnsweredRows.observe) -> Any:
    return real(plan, replace(law, n_noisy=0), secret)._replace(n_contested=law.n_noisy)


def test_identical_queries_are_free(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 100)
    first = responder.predict(X[80:])
    spent, events = session.ledger.spent, session.ledger.events
    assert spent == pytest.approx(responder.n_contested / 100)
    assert responder.n_contested > 20
    belief = secret_of(session).log_belief
    frame = pd.DataFrame(X[80:], columns=list("abcd"))
    for again in (X[80:], X[80:][::-1][::-1], np.asfortranarray(X[80:]), frame.to_numpy()):
        np.testing.assert_array_equal(responder.predict(again), first)
    np.testing.assert_array_equal(responder.predict(np.array(X[80:].tolist())), first)
    assert session.ledger.events == events
    assert secret_of(session).log_belief is belief
    assert responder.n_answered == 6 * 80
    cost = preview(responder, X[70:])
    assert (cost.n_queries, cost.n_stored) == (90, 80)
    # The same answers for whoever asks for the same responder.
    again = session.responder(clone(MODEL), query_budget=1 / 100)
    assert again is responder
    assert session.responder(clone(MODEL), query_budget=1 / 200) is not responder


def test_twice_within_a_batch_is_once(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 100)
    plain = X[80:].copy()
    plain[:, 0] = 0.0
    minus = plain.copy()
    minus[:, 0] = -0.0
    twice = np.concatenate([plain, plain, minus])
    assert np.signbit(twice).sum() > np.signbit(plain).sum() * 3, "zeros of both signs are asked"
    cost = preview(responder, twice)
    assert (cost.n_queries, cost.n_stored) == (240, 160)
    told = responder.predict(twice).reshape(3, 80)
    assert (told == told[0]).all()
    assert session.ledger.spent == pytest.approx(cost.nats) == responder.n_contested / 100


def test_the_same_max_answers_later_is_the_same_responder(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    told = session.respond(MODEL, X[80:], max_answers=80)
    spent = session.ledger.spent
    assert spent > 0
    np.testing.assert_array_equal(session.respond(MODEL, X[80:], max_answers=80), told)
    assert session.ledger.spent == spent


def test_stored_answers_stay_free_when_nothing_is_left(rows: Any) -> None:
    X, _ = rows
    # Far below the secret's entropy, whatever the answers: an exact release would cost less.
    session = session_on(rows, 1.0)
    told = session.respond(MODEL, X[80:], query_budget=1 / 1000)
    session.release(StandardScaler())
    assert session.ledger.remaining < 1e-6
    np.testing.assert_array_equal(session.respond(MODEL, X[80:], query_budget=1 / 1000), told)


def test_rows_on_which_all_agree_are_free(untouched: list[int]) -> None:
    X, y = load_iris(return_X_y=True)
    session = PrivacySession(X, y, budget=1e-6, secret=Subsets(M))
    responder = session.responder(LinearDiscriminantAnalysis(), query_budget=1e-7)
    setosa = X[y == 0]
    cost = preview(responder, setosa)
    assert (cost.n_contested, cost.nats) == (0, 0.0)
    assert cost.n_unanimous + cost.n_stored == 50
    assert cost.worst_case == pytest.approx(50e-7)
    assert (responder.predict(setosa) == 0).all()
    assert session.ledger.events == ()
    assert responder.answer(setosa).margins.min() == math.inf


def test_shares_are_on_the_simplex(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows, budget=1e-3)
    told = session.respond(GaussianNB(), X[80:], max_answers=500, answers="probabilities")
    assert told.shape == (80, 3)
    assert (told >= 0).all()
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    assert np.unique(told).size > 10


def test_values_stay_in_the_public_range() -> None:
    X, y = make_regression(80, 3, random_state=0)
    session = PrivacySession(X, y, budget=1e-3, secret=Subsets(M))
    with pytest.raises(ValueError, match="looking"):
        session.responder(Ridge(), max_answers=50)
    for wrong in ((1, 0), (0, math.inf), ("a", 1)):
        with pytest.raises(ValueError, match="Range"):
            session.responder(Ridge(), max_answers=50, prior=Range(*wrong))
    told = session.respond(Ridge(), X[:30], max_answers=50, prior=Range(-20, 30))
    assert told.shape == (30,)
    assert told.min() == -20.0
    assert told.max() == 30.0
    two = PrivacySession(
        X,
        np.column_stack([y, -y]),
        budget=Nats(10.0, allow_exact=True),
        secret=Subsets(M, stratify=False),
    )
    told = two.respond(Ridge(), X[:9], max_answers=10, prior=Range(-500, 500))
    assert told.shape == (9, 2)


@pytest.mark.parametrize("container", ["sparse", "frame", "strings"])
def test_containers(rows: Any, container: str) -> None:
    X, y = rows
    names = np.array(["low", "middling", "high"])[y]
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    held: Any = {"sparse": sparse.csr_matrix, "frame": pd.DataFrame, "strings": np.asarray}[
        container
    ](X)
    session = PrivacySession(
        held[:80], names[:80], budget=Nats(5.0, allow_exact=True), secret=Subsets(M)
    )
    told = session.respond(MODEL, held[80:], query_budget=1 / 20)
    assert set(told) <= set(names)
    spent = session.ledger.spent
    if container == "sparse":
        np.testing.assert_array_equal(
            session.respond(MODEL, sparse.csc_matrix(X[80:]).tocsr(), query_budget=1 / 20), told
        )
    assert session.ledger.spent == spent


def test_a_closed_session_charges_nothing_for_what_it_cannot_answer(rows: Any) -> None:
    X, _ = rows
    with session_on(rows) as session:
        responder = session.responder(MODEL, query_budget=1 / 64)
        told = responder.predict(X[80:84])
    spent = session.ledger.spent
    assert preview(responder, X[100:140]).n_contested > 0
    with pytest.raises(RuntimeError, match="session"):
        responder.predict(X[100:140])
    assert session.ledger.spent == spent
    assert (responder.predict(X[80:84]) == told).all()


def test_queries_may_be_lists(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 64)
    told = session.respond(MODEL, X[80:90].tolist(), query_budget=1 / 64)
    spent = session.ledger.spent
    assert preview(responder, X[80:90].tolist()).n_stored == 10
    assert (responder.predict(X[80:90]) == told).all()
    assert session.ledger.spent == spent


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        (np.full(4, 0.123456789), "Expected"),
        (np.full((2, 4), np.nan), "NaN"),
        ([["0.123456789x", 0, 0, 0]], "X"),
        (np.full((2, 3), 0.123456789), "features"),
    ],
)
def test_wrong_queries_are_named_not_quoted_and_cost_nothing(
    rows: Any, queries: Any, words: str
) -> None:
    responder = session_on(rows).responder(MODEL, query_budget=1 / 64)
    for ask in (responder.predict, lambda rows: preview(responder, rows)):
        with pytest.raises(ValueError, match=words) as caught:
            ask(queries)
        assert "1234567" not in str(caught.value)
    assert responder.remaining_budget == 2.0


class Boasting(KNeighborsClassifier):
    """Gives the class it knows best two to five times its share, and another less than none."""

    def predict_proba(self, X: Any) -> Any:
        shares = super().predict_proba(X)
        return shares * (2 + self._fit_X[0, 0] % 3) - 0.1


def test_probabilities_are_clipped_before_noise_is_chosen(
    rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a candidate says beyond [0, 1] would be told, and hidden by more noise."""
    X, y = rows
    asked: list[Any] = []
    real = ValueEngine.answer

    def watched(self: Any, said: Any, *step: Any) -> Any:
        asked.append(said)
        return real(self, said, *step)

    monkeypatch.setattr(ValueEngine, "answer", watched)
    session = PrivacySession(X[:80], y[:80], budget=Nats(1.0), secret=Subsets(M))
    responder = session.responder(Boasting(3), query_budget=1 / 100, answers="probabilities")
    told = responder.predict(X[80:120])
    values = np.concatenate(asked)
    assert values.min() == 0.0
    assert values.max() == 1.0
    plain = candidates_of(
        session.responder(Boasting(3), query_budget=1 / 100, answers="probabilities")
    )
    assert plain.values(X[80:120], "predict_proba", 3, np.unique(y)).max() > 1.5
    np.testing.assert_allclose(told.sum(axis=1), 1.0)


def test_no_noise_is_used_twice(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that stops for want of it gets what is left and more; then goes on."""
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(GaussianNB(), query_budget=1 / 500, answers="probabilities")
    given, used = [], []
    take, answer = noise_of(responders_of(session)).take, ValueEngine.answer

    def watched(self: Any, said: Any, secret: int, belief: Any, step: float, noise: Any):
        found = answer(self, said, secret, belief, step, noise)
        used.append(noise[: found.noise_used])
        return found

    def taken(size: int) -> Any:
        given.append(take(size // 3))  # fewer than the rows need
        return given[-1]

    monkeypatch.setattr(noise_of(responders_of(session)), "take", taken)
    monkeypatch.setattr(ValueEngine, "answer", watched)
    responder.predict(X[80:])
    assert len(given) > 1, "three numbers a row, and one was given"
    everything = np.concatenate(given)
    whole = np.concatenate(used)
    np.testing.assert_array_equal(whole, everything[: whole.size])
    assert whole.size == 3 * responder.n_contested


def test_a_responder_goes_on_from_what_it_exported(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 100)
    told = responder.answer(X[80:])
    state = ResponderState.of(responder)
    counts = (state.n_answered, state.n_contested)
    assert counts == (80, responder.n_contested)
    fresh = session.responder(MODEL, query_budget=1 / 101)
    state.restore(fresh)
    spent = session.ledger.spent
    again = fresh.answer(X[80:])
    np.testing.assert_array_equal(again.values, told.values)
    np.testing.assert_array_equal(again.margins, told.margins)
    assert session.ledger.spent == spent
    assert (fresh.n_answered, fresh.n_contested) == (160, counts[1])
    assert f"{160:,}, {counts[1]:,} of them charged" in str(fresh.guarantee_)
    assert fresh.remaining_budget == pytest.approx(2.0 - spent, rel=1e-12)
