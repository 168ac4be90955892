"""A saved session goes on once, with everything it had."""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators import responders, session_document, session_file
from pacsklearn.exceptions import (
    BudgetExhaustedError,
    LedgerError,
    SessionFileError,
    SessionRolledBackError,
)
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.upkeep.verification import verify_ledger
from tests.inside import candidates_of, secret_of

pytestmark = pytest.mark.usefixtures("cheap_passphrases")
KEY = "a long passphrase"
STEP = {"query_budget": 1 / 64}
MODEL = KNeighborsClassifier(3)


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :4], y


@pytest.fixture
def ledger(tmp_path: Path) -> SharedLedger:
    return SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=4.0)


@pytest.fixture
def session(rows: Any, ledger: SharedLedger) -> PrivacySession:
    X, y = rows
    made = PrivacySession(X[:200], y[:200], budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    made.release(StandardScaler(), budget=1 / 8)
    made.respond(MODEL, X[200:260], **STEP)
    return made


ELSEWHERE = """
import pickle, sys
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
import pacsklearn.estimators.privacy_session as module
from pacsklearn.estimators import session_file
from pacsklearn.kernel.noise.sampler import SecureSampler
from tests.inside import secret_of

def refused(*_, **__):
    raise AssertionError("nothing is drawn again")

SecureSampler.index = refused
session_file._COST["n"] = 2
queries, old = pickle.load(open(sys.argv[2], "rb"))
session = module.PrivacySession.load(sys.argv[1], key='a long passphrase')
responder = session.responder(KNeighborsClassifier(3), query_budget=1 / 64)
before = session.ledger.spent
stored = responder.predict(old)
assert session.ledger.spent == before
told = responder.predict(queries)
pickle.dump(
    dict(stored=stored, told=told, before=before, spent=session.ledger.spent,
         events=session.ledger.events, index=secret_of(session).index,
         belief=secret_of(session).log_belief, counted=responder.n_answered),
    open(sys.argv[3], "wb"),
)
"""


@pytest.mark.soak
def test_it_goes_on_in_another_process(
    session: PrivacySession, rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    X, _ = rows
    known = session.respond(MODEL, X[200:260], **STEP)
    files = [str(tmp_path / name) for name in ("session", "queries", "told")]
    session.save(files[0], key=KEY)
    Path(files[1]).write_bytes(pickle.dumps((X[260:300], X[200:260])))
    root = str(Path(__file__).resolve().parents[3])
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", ELSEWHERE, *files],
        check=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=300,
    )
    there = pickle.loads(Path(files[2]).read_bytes())
    np.testing.assert_array_equal(there["stored"], known)
    assert there["before"] == session.ledger.spent
    assert there["index"] == secret_of(session).index
    assert there["events"][: len(session.ledger.events)] == session.ledger.events
    assert there["counted"] == 60 + 60 + 60 + 40
    assert there["spent"] > there["before"]
    assert ledger.spent == there["spent"]
    assert not np.array_equal(there["belief"], secret_of(session).log_belief)
    assert [event.kind for event in ledger.events].count("resumed") == 1
    assert ledger.events[-1].kind == "responses"
    verify_ledger(ledger)
    # Whoever saved it is left behind, whatever is asked next.
    for go_on in (
        lambda: session.release(StandardScaler(), budget=1 / 16),
        lambda: session.respond(MODEL, X[300:400], **STEP),
    ):
        with pytest.raises(SessionRolledBackError, match="moved"):
            go_on()
    assert session.ledger.spent == there["before"]
    assert ledger.spent == there["spent"]


def test_nobody_else_can_read_it(session: PrivacySession, tmp_path: Path) -> None:
    opened, real, old = [], os.open, os.umask(0)

    def spy(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        opened.append((Path(path), flags, mode))
        return real(path, flags, mode, **options)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "open", spy)
            session.save(tmp_path / "session", key=KEY)
            session.save(tmp_path / "session", key=KEY)
    finally:
        os.umask(old)
    assert (tmp_path / "session").stat().st_mode & 0o777 == 0o600
    made = [entry for entry in opened if entry[1] & os.O_CREAT]
    assert len(made) == 2
    assert all(flags & os.O_EXCL and mode == 0o600 for _, flags, mode in made)
    assert [path.name for path in tmp_path.iterdir() if "session" in path.name] == ["session"]


def test_a_save_that_fails_leaves_the_file_that_was_there(
    session: PrivacySession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.save(tmp_path / "session", key=KEY)
    before = (tmp_path / "session").read_bytes()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        session.save(tmp_path / "session", key=KEY)
    assert (tmp_path / "session").read_bytes() == before
    assert len([path for path in tmp_path.iterdir() if "session" in path.name]) == 1


def test_a_file_works_once(session: PrivacySession, tmp_path: Path) -> None:
    session.save(tmp_path / "session", key=KEY)
    first = PrivacySession.load(tmp_path / "session", key=KEY)
    with pytest.raises(SessionRolledBackError, match="second"):
        PrivacySession.load(tmp_path / "session", key=KEY)
    first.save(tmp_path / "session", key=KEY)
    PrivacySession.load(tmp_path / "session", key=KEY)


def test_a_file_is_out_of_date_once_the_session_went_on(
    session: PrivacySession, rows: Any, tmp_path: Path
) -> None:
    session.save(tmp_path / "session", key=KEY)
    session.respond(MODEL, rows[0][200:260], **STEP)  # stored: free
    session.release(StandardScaler(), budget=1 / 16)
    with pytest.raises(SessionRolledBackError, match="moved"):
        PrivacySession.load(tmp_path / "session", key=KEY)


def test_other_sessions_do_not_matter(
    session: PrivacySession, rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    session.save(tmp_path / "session", key=KEY)
    other = PrivacySession(*rows, budget=Nats(1.0), secret=Subsets(8), ledger=ledger)
    other.release(StandardScaler(), budget=1 / 8)
    resumed = PrivacySession.load(tmp_path / "session", ledger=ledger.uri, key=KEY)
    assert resumed.ledger.events == session.ledger.events
    assert resumed.guarantee_ == session.guarantee_
    other.release(LogisticRegression(), budget=1 / 8)
    resumed.release(LogisticRegression(), budget=1 / 8)
    assert ledger.spent == pytest.approx(other.ledger.spent + resumed.ledger.spent)


def test_an_older_copy_of_the_ledger_is_refused(
    session: PrivacySession, ledger: SharedLedger, tmp_path: Path
) -> None:
    session.save(tmp_path / "session", key=KEY)
    other = SharedLedger.found(f"sqlite:///{tmp_path}/other.db", ceiling=4.0)
    with pytest.raises(SessionRolledBackError, match="older"):
        PrivacySession.load(tmp_path / "session", ledger=other, key=KEY)
    with pytest.raises(LedgerError, match="MemoryLedger"):
        PrivacySession.load(tmp_path / "session", ledger=MemoryLedger(4.0), key=KEY)
    PrivacySession.load(tmp_path / "session", key=KEY)  # a failed attempt does not use the file up


@pytest.mark.parametrize("place", ["none", "memory", "reservation"])
def test_saving_needs_a_ledger_in_a_database(
    place: str, rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    where = {"none": None, "memory": MemoryLedger(1.0), "reservation": ledger.reserve(1.0)}[place]
    session = PrivacySession(*rows, budget=Nats(1.0), secret=Subsets(8), ledger=where)
    with pytest.raises(LedgerError, match="ledger"):
        session.save(tmp_path / "session", key=KEY)
    assert not (tmp_path / "session").exists()


def test_other_files_are_not_read(
    session: PrivacySession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "session"
    session.save(path, key=KEY)
    content = path.read_bytes()
    monkeypatch.setattr(session_file, "read_document", lambda _: pytest.fail("it was read"))
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 1
    for wrong, words in [
        (pickle.dumps("a pickle"), "not a file"),
        (b"", "not a file"),
        (content[:30], "damaged"),
        (content[:-1], "damaged"),
        (bytes(damaged), "damaged"),
    ]:
        path.write_bytes(wrong)
        with pytest.raises(SessionFileError, match=words):
            PrivacySession.load(path, key=KEY)
    with pytest.raises(FileNotFoundError):
        PrivacySession.load(tmp_path / "nothing", key=KEY)


def test_a_loaded_session_knows_what_was_certified_and_planned(
    rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    session = PrivacySession(*rows, budget=Nats(1.0), secret=Subsets(8), ledger=ledger)
    planned = [StandardScaler(), lambda X, y: float(X.mean())]
    session.release_planned(planned, budgets=[1 / 8, 1 / 8])
    session.save(tmp_path / "session", key=KEY)
    resumed = PrivacySession.load(tmp_path / "session", key=KEY)
    assert resumed.guarantee_ == session.guarantee_
    assert resumed.guarantee_.n_releases == 2
    assert resumed.guarantee_.certified_membership is not None
    assert "before the session was loaded" in resumed.curator_figure().missing


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_a_seeded_generator_goes_on_where_it_was(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    told = []
    for saved in (False, True):
        uri = SharedLedger.found(f"sqlite:///{tmp_path}/{saved}.db", 2.0).uri
        session = PrivacySession(
            X, y, budget=Nats(2.0), secret=Subsets(8), ledger=uri, random_state=3
        )
        session.respond(MODEL, X[:50], **STEP)
        if saved:
            session.save(tmp_path / "session", key=KEY)
            session = PrivacySession.load(tmp_path / "session", key=KEY)
        told.append(session.respond(MODEL, X[50:150], **STEP))
        assert not session.guarantee_.for_release
    np.testing.assert_array_equal(*told)


def test_the_secret_is_drawn_once(
    rows: Any, ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(SecureSampler, "index", lambda *_: drawn.append(1) or 5)
    session = PrivacySession(*rows, budget=Nats(1.0), secret=Subsets(8), ledger=ledger)
    session.save(tmp_path / "session", key=KEY)
    resumed = PrivacySession.load(tmp_path / "session", key=KEY)
    resumed.release(StandardScaler())
    assert drawn == [1]
    assert secret_of(resumed).index == 5


def test_a_ledger_that_was_moved_is_asked_for(
    session: PrivacySession, rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    session.save(tmp_path / "session", key=KEY)
    (tmp_path / "elsewhere").mkdir()
    for part in tmp_path.glob("ledger.db*"):
        part.rename(tmp_path / "elsewhere" / part.name)
    with pytest.raises(LedgerError, match="moved"):
        PrivacySession.load(tmp_path / "session", key=KEY)
    moved = f"sqlite:///{tmp_path}/elsewhere/ledger.db"
    resumed = PrivacySession.load(tmp_path / "session", ledger=moved, key=KEY)
    before = resumed.ledger.spent
    resumed.respond(MODEL, rows[0][200:260], **STEP)
    assert resumed.ledger.spent == before


def test_who_wrote_a_file_is_asked_before_it_is_read(
    session: PrivacySession, tmp_path: Path
) -> None:
    path, key = tmp_path / "session", tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    session.save(path, key=key)
    for given, words in [
        ({}, "saved with a key"),
        ({"trusted": True}, "saved with a key"),
        ({"key": "another passphrase"}, "another key"),
        ({"key": "short"}, "at least 12 bytes"),
    ]:
        with pytest.raises(SessionFileError, match=words):
            PrivacySession.load(path, **given)
    with pytest.raises(TypeError, match="key"):
        PrivacySession.load(path, key=3)
    path.chmod(0o620)
    with pytest.raises(SessionFileError, match="others"):
        PrivacySession.load(path, key=key)
    path.chmod(0o600)
    key.chmod(0o602)
    with pytest.raises(SessionFileError, match="others"):
        PrivacySession.load(path, key=key)
    key.chmod(0o600)
    PrivacySession.load(path, key=key)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(session: PrivacySession, tmp_path: Path) -> None:
    path = tmp_path / "session"
    session.save(path, key=KEY)
    os.chown(path, 12345, 12345)
    with pytest.raises(SessionFileError, match="belongs"):
        PrivacySession.load(path, key=KEY)


def test_a_file_without_a_key_names_no_ledger_and_holds_no_models(
    rows: Any, ledger: SharedLedger, session: PrivacySession, tmp_path: Path
) -> None:
    queries = rows[0][200:260]
    told = session.respond(LogisticRegression(), queries, **STEP)
    path = tmp_path / "session"
    session.save(path)
    with pytest.raises(SessionFileError, match=r"without.*ledger="):
        PrivacySession.load(path)
    with pytest.raises(LedgerError, match="ledger"):
        PrivacySession.load(path, trusted=True)
    resumed = PrivacySession.load(path, trusted=True, ledger=ledger.uri)
    spent = resumed.ledger.spent
    assert spent == session.ledger.spent > 0.1
    # Fitted again, on the same rows: what was told is told again, and free.
    np.testing.assert_array_equal(resumed.respond(LogisticRegression(), queries, **STEP), told)
    assert resumed.ledger.spent == spent
    resumed.save(path)  # also what was not asked for meanwhile
    again = PrivacySession.load(path, trusted=True, ledger=ledger)
    again.respond(MODEL, queries, **STEP)
    assert again.ledger.spent == spent


@pytest.mark.product(only=1)
@pytest.mark.parametrize("model", [LogisticRegression(C=0.1), SVC(kernel="rbf")])
def test_a_file_with_a_key_holds_models(
    rows: Any, ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    X, y = rows
    session = PrivacySession(X[:200], y[:200], budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    answers = session.respond(model, X[200:240], **STEP)
    session.save(tmp_path / "session", key=KEY)
    resumed = PrivacySession.load(tmp_path / "session", key=KEY)
    spent = resumed.ledger.spent
    monkeypatch.setattr(responders, "candidate_models", lambda _: pytest.fail("fitted again"))
    responder = resumed.responder(model, **STEP)
    np.testing.assert_array_equal(responder.predict(X[200:240]), answers)
    assert resumed.ledger.spent == spent
    before = candidates_of(session.responder(model, **STEP))
    codes = before.labels(X, np.unique(y))
    np.testing.assert_array_equal(candidates_of(responder).labels(X, np.unique(y)), codes)
    assert (candidates_of(responder).stacked is None) == (before.stacked is None)


def test_models_that_cannot_be_written_are_fitted_again(
    rows: Any, ledger: SharedLedger, tmp_path: Path
) -> None:
    X, y = rows
    session = PrivacySession(X[:200], y[:200], budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    answers = {}
    for model in (SVC(), MODEL):
        answers[type(model)] = session.respond(model, X[200:240], **STEP)
    session.save(tmp_path / "session", key=KEY)
    resumed = PrivacySession.load(tmp_path / "session", key=KEY)
    spent = resumed.ledger.spent
    for model in (SVC(), MODEL):
        again = resumed.responder(model, **STEP).predict(X[200:240])
        np.testing.assert_array_equal(again, answers[type(model)])
    assert resumed.ledger.spent == spent


def test_classes_in_a_file_are_not_trusted_because_it_says_so(
    rows: Any, ledger: SharedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows
    session = PrivacySession(X[:200], y[:200], budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    session.respond(LogisticRegression(), X[200:240], **STEP)
    planted = np.frombuffer(skops.io.dumps({"models": [os.system], "n_jobs": None}), np.uint8)
    monkeypatch.setattr(
        session_document, "models_without_code", lambda models: dict.fromkeys(models, planted)
    )
    session.save(tmp_path / "session", key=KEY)
    with pytest.raises(SessionFileError, match="BundleError"):
        PrivacySession.load(tmp_path / "session", key=KEY)


def test_a_session_on_behalf_of_somebody_stays_theirs(rows: Any, tmp_path: Path) -> None:
    founded = SharedLedger.found(f"sqlite:///{tmp_path}/shared.db", ceiling=4.0, per_user=0.5)
    session = PrivacySession(
        *rows, budget=Nats(1.0), secret=Subsets(8), ledger=founded.on_behalf_of(user="ann")
    )
    session.release(StandardScaler(), budget=0.25)
    session.save(tmp_path / "session", key=KEY)
    resumed = PrivacySession.load(tmp_path / "session", key=KEY, ledger=founded.uri)
    with pytest.raises(BudgetExhaustedError):
        resumed.release(StandardScaler(), budget=0.3)


@pytest.mark.parametrize(
    "planted", [b"cos\nsystem\n(S'true'\ntR.", pickle.dumps(print), pickle.dumps(3), b"junk"]
)
def test_a_planted_file_runs_nothing(tmp_path: Path, planted: bytes) -> None:
    path = tmp_path / "session"
    salt = bytes(16)
    digest = hashlib.sha256(salt + planted).digest()
    path.write_bytes(session_file._MAGIC + b"U" + salt + digest + planted)
    path.chmod(0o600)
    with pytest.raises(SessionFileError, match="session"):
        PrivacySession.load(path, trusted=True)
