"""Rule 11: a secret, its account and its noise are of no use in another process."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Answers, Nats, PACPrivate, PrivacySession, Subsets
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.exceptions import (
    BudgetExhaustedError,
    ForeignProcessError,
    SessionRolledBackError,
)
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.srpp import SRPPSGDClassifier
from pacsklearn.srpp.laws.batch_sampler import BatchSampler
from tests.inside import account_of, handle_of, locks_of, secret_of

InAChild = Callable[[Callable[[], Any]], Any]

STEP = 2.0**-6
MODEL = KNeighborsClassifier(1)
X, Y = load_iris(return_X_y=True)
X = X[:, :2]


def rows(n: int, seed: int = 0) -> Any:
    """Where the classes overlap, so that candidates disagree."""
    return np.random.default_rng(seed).uniform([5.0, 2.2], [7.5, 3.6], (n, 2))


@pytest.fixture
def session() -> PrivacySession:
    return PrivacySession(X, Y, budget=0.5, secret=Subsets(8))


@pytest.mark.soak
def test_24_forked_workers_spend_nothing_and_learn_nothing(
    session: PrivacySession, in_a_child: InAChild
) -> None:
    """Each spent the whole budget about one secret: 24 times what was promised."""
    session.respond(MODEL, rows(2), query_budget=STEP)
    spent, queries = session.ledger.spent, rows(64, seed=1)
    found = [
        in_a_child(lambda: session.respond(MODEL, queries, query_budget=STEP)) for _ in range(24)
    ]
    assert all(isinstance(each, ForeignProcessError) for each in found)
    assert session.ledger.spent == spent
    # The parent goes on as if nothing had happened.
    with pytest.raises(BudgetExhaustedError):
        session.respond(MODEL, rows(2000, seed=2), query_budget=STEP)
    assert session.respond(MODEL, rows(4, seed=3), query_budget=STEP).shape == (4,)


def everything(session: PrivacySession) -> dict[str, Callable[[], Any]]:
    responder = session.responder(MODEL, query_budget=STEP)
    known = rows(2)
    responder.predict(known)
    reserved = session.ledger.reserve(0.01)
    run = SeededSampler(np.random.default_rng(0))
    account, secret = account_of(session), secret_of(session)
    batches = BatchSampler(10, 2, "poisson")
    return {
        "release": lambda: session.release(LinearDiscriminantAnalysis()),
        "release_function": lambda: session.release_function(lambda X, y: X.mean()),
        "responder": lambda: session.responder(MODEL, query_budget=STEP),
        "stored answers": lambda: responder.predict(known),
        "new answers": lambda: responder.predict(rows(3, seed=5)),
        "preview": lambda: preview(responder, known),
        "remaining": lambda: responder.remaining_budget,
        "session guarantee": lambda: session.guarantee_,
        "save": lambda: session.save("nowhere"),
        "check": lambda: account.check(0.01),
        "resume": account.resume,
        "reserve": lambda: session.ledger.reserve(0.01),
        "give back": reserved.release_unspent,
        "index": lambda: secret.index,
        "export": secret.export,
        "learn": lambda: secret.learn(np.zeros(8)),
        "use": lambda: secret.use(0, np.arange(8)),
        "secure noise": lambda: secret.sampler.noise(1),
        "secure index": lambda: secret.sampler.index(np.ones(2)),
        "seeded noise": lambda: run.noise(1),
        "seeded index": lambda: run.index(np.ones(2) / 2),
        "batches": batches.draw,
    }


@pytest.mark.soak
def test_everything_refuses_whatever_locks_were_held(
    session: PrivacySession, in_a_child: InAChild
) -> None:
    """A thread that held a lock when the process forked never lets go of the child's copy."""
    attempts = everything(session)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        one, other = locks_of(session)
        with one, other:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        told = {name: type(in_a_child(work)) for name, work in attempts.items()}
    finally:
        done.set()
        thread.join()
    assert told == dict.fromkeys(attempts, ForeignProcessError)
    assert in_a_child(session.close) is None, "a with block may end in a child"
    assert "PrivacySession(" in in_a_child(lambda: repr(session))


@pytest.mark.parametrize("leave", [pickle.dumps, copy.deepcopy])
def test_nothing_of_a_session_can_be_pickled_or_copied(
    session: PrivacySession, leave: Callable[[Any], Any]
) -> None:
    responder = session.responder(MODEL, query_budget=STEP)
    for part in (secret_of(session), account_of(session), responder, secret_of(session).sampler):
        with pytest.raises(TypeError, match=r"copied|pickle"):
            leave(part)
    with pytest.raises(TypeError, match="neither"):
        leave(SeededSampler(np.random.default_rng(0)))


def test_a_session_over_a_list_is_as_safe(in_a_child: InAChild) -> None:
    session = PrivacySession.over(range(16), budget=Nats(1.0))
    for noise in ("one_sided", "logdet"):
        error = in_a_child(lambda noise=noise: session.release_function(int, noise=noise))
        assert isinstance(error, ForeignProcessError)
    assert session.ledger.spent == 0


def test_a_child_may_begin_a_session_of_its_own(in_a_child: InAChild) -> None:
    def work() -> Any:
        own = PrivacySession(X, Y, budget=0.5, secret=Subsets(8))
        return own.respond(MODEL, rows(5), query_budget=STEP).shape

    assert in_a_child(work) == (5,)


def test_an_account_of_one_process_is_refused_in_a_child(in_a_child: InAChild) -> None:
    ledger = MemoryLedger(1.0)

    def fit() -> Any:
        return PACPrivate(LinearDiscriminantAnalysis(), secret=Subsets(8), ledger=ledger).fit(X, Y)

    assert isinstance(in_a_child(fit), ForeignProcessError)
    fit()
    assert ledger.spent > 0


@pytest.fixture(scope="module")
def answering() -> PACPrivate:
    return PACPrivate(MODEL, budget=0.5, release=Answers(query_budget=STEP), secret=Subsets(8)).fit(
        X, Y
    )


def test_estimators_that_answer(answering: PACPrivate, in_a_child: InAChild) -> None:
    for copied in (answering, copy.deepcopy(answering)):
        assert isinstance(in_a_child(lambda c=copied: c.predict(rows(3))), ForeignProcessError)
    # The name in a pickle is known in a forked child: what it leads to is not for it.
    pickled = pickle.dumps(answering)
    handle = handle_of(answering)
    attempts: list[Callable[[], Any]] = [
        lambda: pickle.loads(pickled).predict(rows(3)),
        lambda: pickle.loads(pickled).answers_given_,
        lambda: answering.guarantee_,
        handle.get,
        lambda: pickle.loads(pickle.dumps(handle)).get(),
    ]
    for work in attempts:
        assert isinstance(in_a_child(work), ForeignProcessError)
    assert pickle.loads(pickled).predict(rows(3)).shape == (3,), "at home it leads to the same"


def test_workers_of_a_pool_that_are_forked(answering: PACPrivate) -> None:
    before = answering.answers_given_
    # joblib's own pool of forks ends the others when one fails, at times while one holds a lock.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        errors = [pool.submit(answering.predict, rows(2, seed)).exception() for seed in range(2)]
    assert all(isinstance(each, ForeignProcessError) for each in errors)
    assert answering.answers_given_ == before


def test_a_web_server_that_fits_before_it_forks(
    answering: PACPrivate, in_a_child: InAChild
) -> None:
    """Every preloading worker would have served the whole budget."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def one_worker() -> str:
            client = socket.create_connection(server.getsockname())
            served, _ = server.accept()
            with client, served:
                client.sendall(rows(1, seed=9).tobytes())
                query = np.frombuffer(served.recv(64)).reshape(1, 2)
                try:
                    reply = str(answering.predict(query).tolist())
                except ForeignProcessError as error:
                    reply = f"503 {error}"
                served.sendall(reply.encode())
                return client.recv(2000).decode()

        replies = [in_a_child(one_worker) for _ in range(2)]
    for reply in replies:
        assert reply.startswith("503 The secret behind these private answers stays in the process")
        assert "fit in each worker, after the fork" in reply


@pytest.mark.soak
def test_runs_of_private_steps(in_a_child: InAChild) -> None:
    """Each of 24 children went on with the run, under the same promise."""
    model = SRPPSGDClassifier(budget=2.0, epochs=4, batches=50)
    two = Y < 2
    model.partial_fit(X[two], Y[two], classes=[0, 1])
    spent = model.guarantee_.costs
    pickled = pickle.dumps(model)
    for work in (
        lambda: model.partial_fit(X[two], Y[two]),
        lambda: pickle.loads(pickled).partial_fit(X[two], Y[two]),
        lambda: copy.deepcopy(model).partial_fit(X[two], Y[two]),
    ):
        assert isinstance(in_a_child(work), ForeignProcessError)
    # Of all copies in this process one goes on.
    other = pickle.loads(pickled).partial_fit(X[two], Y[two])
    with pytest.raises(SessionRolledBackError, match="copy"):
        model.partial_fit(X[two], Y[two])
    assert other.n_steps_ == 2 * model.n_steps_
    assert model.guarantee_.costs == spent
    model = SRPPSGDClassifier(epochs=1, classes=[0, 1])
    assert in_a_child(lambda: model.fit(X[two], Y[two]).n_iter_) == 1


def test_a_run_on_a_ledger_in_a_database_goes_on_in_another_process_once(
    in_a_child: InAChild, tmp_path: Any
) -> None:
    two = Y < 2
    model = SRPPSGDClassifier(budget=2.0, epochs=4, batches=50, secret_name="rows")
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/runs.db", 2.0, unit=model.ledger_unit)
    model.set_params(ledger=ledger.uri).partial_fit(X[two], Y[two], classes=[0, 1])
    assert in_a_child(lambda: model.partial_fit(X[two], Y[two]).n_steps_) == 2 * model.n_steps_
    with pytest.raises(SessionRolledBackError):
        model.partial_fit(X[two], Y[two])


def test_the_home_of_a_sampler_is_where_it_was_made(in_a_child: InAChild) -> None:
    assert in_a_child(lambda: SecureSampler().noise(3).size) == 3
