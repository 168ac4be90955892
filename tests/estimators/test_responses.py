"""PACPrivate around black boxes: answers under a budget, from one process."""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from pacsklearn import Answers, Nats, PACPrivate, PrivateGridSearchCV, Subsets
from pacsklearn.estimators import ledger_answers
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.priors import Range
from pacsklearn.universe.design import candidates_over
from pacsklearn.upkeep.verification import verify_ledger
from tests.inside import answers_of
from tests.kernel.ledger.raw_database import raw

M = 8


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return make_classification(160, 4, n_redundant=0, flip_y=0.3, random_state=2)


def answering(**params: Any) -> PACPrivate:
    defaults = {"budget": Nats(1.0), "release": Answers(200), "secret": Subsets(M)}
    return PACPrivate(**{"estimator": KNeighborsClassifier(1)} | defaults | params)


@pytest.fixture
def fitted(rows: Any) -> PACPrivate:
    X, y = rows
    return answering().fit(X[:100], y[:100])


def test_answers_are_counted_and_charged(fitted: PACPrivate, rows: Any) -> None:
    X, y = rows
    assert (fitted.answers_given_, fitted.remaining_budget_) == (0, 1.0)
    preview = fitted.preview(X[100:])
    score = fitted.score(X[100:], y[100:])
    assert score == np.mean(fitted.predict(X[100:]) == y[100:])
    assert fitted.answers_given_ == 120
    assert fitted.remaining_budget_ == pytest.approx(1.0 - preview.nats)
    assert 0 < preview.nats < preview.worst_case
    assert fitted.guarantee_.metered == pytest.approx(preview.nats)
    # One transcript's charges are a sample; the promise is the ceiling.
    assert fitted.guarantee_.spent == 1.0
    assert fitted.released_methods_ == ("predict",)
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(BudgetExhaustedError, match="ceiling"):
        answering(budget=0.01, release=Answers(3)).fit(X[:100], y[:100]).predict(X)


def test_an_answer_does_not_go_through_all_before_it(
    fitted: PACPrivate, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _ = rows
    fitted.predict(X[100:110])
    spent, listed = fitted.remaining_budget_, []
    listing = Ledger.events
    monkeypatch.setattr(
        Ledger, "events", property(lambda own: listed.append(1) or listing.fget(own))
    )
    for row in X[110:]:
        fitted.predict([row])
    assert fitted.remaining_budget_ < spent
    assert not listed


def test_answers_in_the_ledgers_database(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=5.0)
    monkeypatch.setattr(ledger_answers, "_MOST_HELD", 8)
    model = answering(ledger=ledger, release=Answers(200, store="ledger")).fit(X[:100], y[:100])
    told = model.predict(X[100:])
    spent = ledger.spent
    assert spent == pytest.approx(1.0 - model.remaining_budget_)
    assert spent > 0
    assert len(answers_of(model.responder())) == 8
    np.testing.assert_array_equal(model.predict(X[100:]), told)
    assert ledger.spent == spent

    assert raw(ledger, "SELECT count(*) FROM answers") == [(60,)]
    for wrong, error, message in (
        ({"release": Answers(store="disk")}, ValueError, "store"),
        ({"release": Answers(store="ledger")}, LedgerError, "needs a ledger in a database"),
        (
            {"release": Answers(store="ledger"), "ledger": MemoryLedger(1.0)},
            LedgerError,
            "in a database",
        ),
    ):
        with pytest.raises(error, match=message):
            answering(**wrong).fit(X[:100], y[:100])


def test_probabilities_and_values(rows: Any) -> None:
    X, y = rows
    model = answering(release=Answers(200, of="probabilities")).fit(X[:100], y[:100])
    shares = model.predict_proba(X[100:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X[100:]), shares.argmax(axis=1))
    stack = StackingClassifier([("near", KNeighborsClassifier())], cv=2)  # its fit adds a model
    stacked = answering(estimator=stack, release=Answers(200, of="probabilities")).fit(
        X[:100], y[:100]
    )
    np.testing.assert_allclose(stacked.predict_proba(X[:5]).sum(axis=1), 1)
    regressor = PACPrivate(SVR(), release=Answers(50, prior=Range(-1, 1)), secret=Subsets(M))
    told = regressor.fit(X, X[:, 0]).predict(X[:20])
    assert np.abs(told).max() == 1.0
    with pytest.raises(ValueError, match="prior"):
        clone(regressor).set_params(release__prior=None).fit(X, X[:, 0])


def test_validation_works_and_is_charged(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    uri = f"sqlite:///{tmp_path}/ledger.db"
    ledger = SharedLedger.found(uri, ceiling=50.0)
    scores = cross_val_score(answering(ledger=uri), X, y, cv=2, error_score="raise")
    assert np.isfinite(scores).all()
    after = ledger.spent
    assert after > 0
    search = GridSearchCV(
        answering(ledger=uri),
        {"estimator__n_neighbors": [1, 5]},
        cv=2,
        n_jobs=2,
        refit=False,
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    # What workers in other processes charged is there too.
    assert ledger.spent > after
    assert len({event.key for event in ledger.events}) == len(ledger.events)
    verify_ledger(ledger)


def test_a_private_search_keeps_its_reservation_for_answers(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=10.0)
    search = PrivateGridSearchCV(
        answering(), {"estimator__n_neighbors": [1, 5]}, ledger=ledger, cv=2
    ).fit(X, y)
    assert search.reserved_ == 5.0
    assert search.best_estimator_.remaining_budget_ == 1.0
    search.predict(X[:50])
    assert search.best_estimator_.remaining_budget_ < 1.0
    assert not search.reservation_.is_closed


def test_copies_in_this_process_share_the_budget(fitted: PACPrivate, rows: Any) -> None:
    X, _ = rows
    told = fitted.predict(X[100:])
    left = fitted.remaining_budget_
    for twin in (copy.copy(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(twin.predict(X[100:]), told)
        assert twin.remaining_budget_ == left
        assert twin.responder() is fitted.responder()
    twin.predict(X[:100] + 0.01)
    assert fitted.remaining_budget_ == twin.remaining_budget_ < left
    assert not clone(fitted).__sklearn_is_fitted__()


ELSEWHERE = """
import pickle, sys
model = pickle.load(open(sys.argv[1], "rb"))
try:
    model.predict([[0.0, 0.0, 0.0, 0.0]])
except RuntimeError as error:
    print(error)
"""


@pytest.mark.soak
def test_a_pickle_elsewhere_says_where_the_secret_is(fitted: PACPrivate, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(fitted))
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", ELSEWHERE, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=300,
    )
    assert "stays in the process that made it" in done.stdout


def test_nothing_secret_leaves(rows: Any) -> None:
    X, y = rows
    model = make_pipeline(StandardScaler(), SVC())
    fitted = PACPrivate(model, release=Answers(100), secret=Subsets(M)).fit(X, y)
    fitted.predict(X[:50])
    leaving = pickle.dumps(fitted) + fitted._repr_html_().encode() + repr(fitted).encode()
    leaving += str(fitted.guarantee_).encode() + repr(vars(fitted)).encode()
    space = Subsets(M).design().space(X, y, classifies=True)
    models = candidate_models(candidates_over(model, X, y, space)).models
    known = [*X, space.packed, *(m[0].mean_ for m in models), *(m[1].support_ for m in models)]
    known += [m[1].dual_coef_ for m in models]
    for numbers in known:
        assert np.ascontiguousarray(numbers).tobytes() not in leaving
    for value in X.ravel():
        assert repr(float(value)) not in leaving.decode("latin-1")
    assert b"log_belief" not in leaving


STEP = 2.0**-10


def answer_for_ever(X: Any, y: Any, ledger: SharedLedger, told: Path, run: int) -> None:
    """Answer batch after batch; note how many rows have been charged-for answers."""
    session = PrivacySession(
        X[:100], y[:100], budget=Nats(500.0, allow_exact=True), secret=Subsets(M), ledger=ledger
    )
    responder = session.responder(KNeighborsClassifier(1), query_budget=STEP)
    with told.open("ab", buffering=0) as file:
        for batch in range(10_000):
            queries = X[100:] + (1 + batch) * 1e-9
            before = responder.n_contested
            responder.predict(queries)
            file.write(f"{run} {responder.n_contested - before}\n".encode())


def test_no_answer_leaves_uncharged_when_it_is_killed(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=1000.0)
    told = tmp_path / "told"
    told.touch()
    generator, fork = random.Random(5), multiprocessing.get_context("fork")
    # Compiled here, so that the children begin at once.
    session = PrivacySession(
        X[:100], y[:100], budget=Nats(500.0, allow_exact=True), secret=Subsets(M)
    )
    session.respond(KNeighborsClassifier(1), X[:5], query_budget=STEP)
    for run in range(10):
        before, size = len(ledger.events), told.stat().st_size
        child = fork.Process(target=answer_for_ever, args=(X, y, ledger, told, run))
        child.start()
        deadline = time.monotonic() + 60
        while told.stat().st_size == size:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(generator.uniform(0, 0.05))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        answered = [line.split() for line in told.read_text().splitlines()]
        mine = [int(count) for number, count in answered if int(number) == run]
        charged = ledger.events[before:]
        assert len(mine) <= len(charged) <= len(mine) + 1
        for count, event in zip(mine, charged, strict=False):
            assert count == event.n_noisy
            assert 0 < event.charge <= count * STEP
    assert ledger.spent == pytest.approx(math.fsum(event.charge for event in ledger.events))
    verify_ledger(ledger)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_models_that_work_in_place_answer_by_their_own_rows(rows: Any) -> None:
    # Rule 1: the first candidate's mean filled the gaps that all others were asked about.
    table = np.random.default_rng(0).normal(size=(60, 1))
    gaps = np.where(np.arange(60)[:, None] < 6, np.nan, table)
    how = {"secret": Subsets(M, seed=0), "random_state": 0}
    answers = []
    for is_copied in (True, False):
        model = make_pipeline(SimpleImputer(copy=is_copied), KNeighborsRegressor(1))
        kind = Answers(4, prior=Range(-4, 4))
        private = PACPrivate(model, Nats(1), release=kind, **how).fit(gaps, table.ravel())
        answers.append(float(private.predict(np.array([[np.nan]]))[0]))
    assert answers[0] == answers[1]
    X, y = rows
    in_place = [
        make_pipeline(StandardScaler(copy=False), last)
        for last in (KNeighborsClassifier(), LogisticRegression())
    ]
    asked = X[100:].copy()
    answering(estimator=in_place[0]).fit(X[:100], y[:100]).predict(asked)
    np.testing.assert_array_equal(asked, X[100:])
    PACPrivate(in_place[1], **how).plan(X, y)  # compared on rows that neither has changed
