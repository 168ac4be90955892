"""Whoever writes a session's file decides what it holds, and nothing beyond the loading process."""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import pickle
import random
import shutil
import socket
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators.session_file import digest_with
from pacsklearn.exceptions import PacsklearnError
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.upkeep.verification import verify_ledger

pytestmark = pytest.mark.usefixtures("cheap_passphrases")
KEY = "a long passphrase"
FORK = multiprocessing.get_context("fork")
SALT, DIGEST = 16, 32
# Never imported by anything here: a file that names one must not get it imported.
NAMES = ("antigravity", "this:d", "idlelib.idle", "os:system", "postgresql://127.0.0.1:9/x")


@pytest.fixture
def ledger(tmp_path: Path) -> SharedLedger:
    return SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=4.0)


@pytest.fixture
def saved(ledger: SharedLedger, tmp_path: Path, cheap_passphrases: None) -> dict[bool, Path]:
    """One session, saved without a key and with one."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    session = PrivacySession(X, X[:, 0] > 0, budget=Nats(1.0), secret=Subsets(8), ledger=ledger)
    session.release(StandardScaler(), budget=1 / 8)
    session.respond(LogisticRegression(), X[:10], query_budget=1 / 64)
    paths = {False: tmp_path / "plain", True: tmp_path / "keyed"}
    session.save(paths[False])
    session.save(paths[True], key=KEY)
    return paths


def load(path: Path, *, keyed: bool, ledger: Any) -> PrivacySession:
    given = {"key": KEY} if keyed else {"trusted": True}
    return PrivacySession.load(path, ledger=ledger, **given)


def forge(path: Path, content: bytes, *, keyed: bool) -> None:
    """Put other content behind an honest file's header, with the digest that it has to have."""
    whole = path.read_bytes()
    start = whole.index(b"\n") + 2
    salt = whole[start : start + SALT]
    digest = digest_with(KEY if keyed else None, salt)
    digest.update(content)
    path.write_bytes(whole[: start + SALT] + digest.digest() + content)


def members(path: Path) -> dict[str, bytes]:
    whole = path.read_bytes()
    content = whole[whole.index(b"\n") + 2 + SALT + DIGEST :]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def npy(header: str, content: bytes) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def listening() -> tuple[socket.socket, int]:
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    return server, server.getsockname()[1]


def connected(server: socket.socket) -> bool:
    try:
        server.accept()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("keyed", [False, True])
def test_a_pickle_sets_no_attribute_of_a_class(
    saved: dict[bool, Path], ledger: SharedLedger, *, keyed: bool
) -> None:
    class_ = type(ledger)
    body = b"c" + f"{class_.__module__}\n{class_.__name__}\n".encode() + b"(N(VPLANTED\nNdtb."
    forge(saved[keyed], body + pickle.dumps({}), keyed=keyed)
    try:
        with pytest.raises(PacsklearnError):
            load(saved[keyed], keyed=keyed, ledger=ledger)
        assert not hasattr(class_, "PLANTED")
    finally:
        if hasattr(class_, "PLANTED"):
            del class_.PLANTED


@pytest.mark.parametrize("keyed", [False, True])
def test_a_pickle_connects_to_no_host(
    saved: dict[bool, Path], ledger: SharedLedger, *, keyed: bool
) -> None:
    server, port = listening()
    body = (
        "cpacsklearn.kernel.ledger.shared_ledger\nSharedLedger\n"
        f"(Vpostgresql://u:p@127.0.0.1:{port}/x?connect_timeout=1\ntR."
    )
    with server:
        forge(saved[keyed], body.encode(), keyed=keyed)
        with pytest.raises(PacsklearnError):
            load(saved[keyed], keyed=keyed, ledger=ledger)
        assert not connected(server)


@pytest.mark.parametrize("keyed", [False, True])
def test_an_address_in_a_file_is_not_connected_to(
    saved: dict[bool, Path], ledger: SharedLedger, *, keyed: bool
) -> None:
    server, port = listening()
    parts = members(saved[keyed])
    hostile = f"postgresql://u:p@127.0.0.1:{port}/x"
    assert ledger.uri.encode() in parts["facts.json"]
    parts["facts.json"] = parts["facts.json"].replace(ledger.uri.encode(), hostile.encode())
    with server:
        forge(saved[keyed], zipped(parts), keyed=keyed)
        for given in (None, ledger):
            with pytest.raises(PacsklearnError):
                load(saved[keyed], keyed=keyed, ledger=given)
        assert not connected(server)


def test_a_file_without_a_key_writes_into_no_ledger_that_it_names(
    saved: dict[bool, Path], ledger: SharedLedger
) -> None:
    before = ledger.position
    with pytest.raises(PacsklearnError):
        PrivacySession.load(saved[False], trusted=True)
    assert ledger.position == before


@pytest.mark.product(only=6)
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    "planted",
    [
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (5,), }", b"A" * 40),
        npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (5,), }", b"A" * 40),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000000,), }", b"A" * 40),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", b"A" * 40),
        npy("{'descr': '|V0', 'fortran_order': False, 'shape': (40, 2), }", b""),
        pickle.dumps(np.zeros(3)),
    ],
)
def test_no_array_points_anywhere(
    saved: dict[bool, Path], ledger: SharedLedger, planted: bytes, *, keyed: bool
) -> None:
    """The objects of an array are pointers: eight bytes of A would be dereferenced."""
    parts = members(saved[keyed])
    for name in [name for name in parts if name.endswith(".npy")][:4]:
        forge(saved[keyed], zipped(parts | {name: planted}), keyed=keyed)
        with pytest.raises(PacsklearnError):
            load(saved[keyed], keyed=keyed, ledger=ledger)


@pytest.mark.parametrize("keyed", [False, True])
def test_other_members_and_compression_are_refused(
    saved: dict[bool, Path], ledger: SharedLedger, *, keyed: bool
) -> None:
    parts = members(saved[keyed])
    for content in (
        zipped(parts | {"more": b"x"}),
        zipped(parts, zipfile.ZIP_DEFLATED),
        zipped({name: part for name, part in parts.items() if name != "0.npy"}),
        zipped(parts | {"facts.json": b"[" * 100_000 + b"]" * 100_000}),
        zipped(parts | {"facts.json": b"{}"}),
        zipped(parts)[:-30],
        b"",
    ):
        forge(saved[keyed], content, keyed=keyed)
        with pytest.raises(PacsklearnError):
            load(saved[keyed], keyed=keyed, ledger=ledger)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every place in a document, as its container and its index."""
    found, waiting = [], [document]
    while waiting:
        here = waiting.pop()
        for place in range(len(here)) if isinstance(here, list) else list(here):
            found.append((here, place))
            if isinstance(here[place], (list, dict)):
                waiting.append(here[place])
    return found


def mutated(parts: dict[str, bytes], dice: random.Random) -> bytes:
    """An honest file's content with one fault, and checksums that are right, mostly."""
    parts, way = dict(parts), dice.randrange(8)
    arrays = [name for name in parts if name.endswith(".npy")]
    if way == 0:
        content = bytearray(zipped(parts))
        content[dice.randrange(len(content))] = dice.randrange(256)
        return bytes(content)
    if way in (1, 2):
        name = dice.choice(arrays)
        array = bytearray(parts[name])
        array[dice.randrange(len(array))] = dice.randrange(256)
        parts[name] = bytes(array)
    elif way == 3:
        one, other = dice.choice(arrays), dice.choice(arrays)
        parts[one] = parts[other]
    else:
        facts = json.loads(parts["facts.json"])
        container, place = dice.choice(places(facts))
        kinds = ["array", "scalar", "objects", "sparse", "frame", "series", "categories", "tuple"]
        values = [None, True, -1, 0, 1, 2**70, 1e308, 0.5, "", *NAMES, [], {}]
        values += [{dice.choice(kinds): dice.choice([0, -1, 10**9, [], "x"])}]
        if dice.random() < 0.15:
            del container[place]
        elif isinstance(container, dict) and dice.random() < 0.2:
            container[dice.choice(kinds + list(NAMES))] = container.pop(place)
        else:
            container[place] = dice.choice(values)
        parts["facts.json"] = json.dumps(facts).encode()
    return zipped(parts)


def mutants_change_nothing(folder: Path, count: int, told: Any, *, keyed: bool) -> None:
    """Load many, in a process of its own whose every act is heard."""
    import pandas  # noqa: F401, ICN001 - what a table in a file would load

    sys.dont_write_bytecode = True
    path = folder / ("keyed" if keyed else "plain")
    parts, dice = members(path), random.Random(0)
    heard: list[str] = []
    listens = [False]

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        kind = event.partition(".")[0]
        outside = kind in ("subprocess", "socket", "ctypes", "pickle", "shutil", "smtplib")
        outside |= event in ("os.system", "os.exec", "os.fork", "os.remove", "os.rename")
        if event == "sqlite3.connect" or (event == "open" and _writes(arguments)):
            # The ledger compares its tables with those of a new database in memory.
            outside |= str(folder) not in str(arguments[0]) and arguments[0] != ":memory:"
        if listens[0] and outside:
            heard.append(f"{event} {arguments!r}"[:200])

    def copied(name: str) -> str:
        for part in folder.glob("ledger.db*"):
            shutil.copy(part, folder / part.name.replace("ledger", name))
        return f"sqlite:///{folder}/{name}.db"

    def go_on(session: PrivacySession) -> None:
        session.respond(LogisticRegression(), np.zeros((3, 2)), query_budget=1 / 64)
        session.release(StandardScaler(), budget=1 / 8)

    go_on(load(path, keyed=keyed, ledger=copied("honest")))  # loads what any loading loads
    sys.addaudithook(listen)
    classes = [SharedLedger, PrivacySession, *PrivacySession.__mro__[1:-1]]
    known, accepted = [dict(vars(each)) for each in classes], 0
    for i in range(count):
        forge(path, mutated(parts, dice), keyed=keyed)
        uri = copied(f"copy{i}")
        listens[0] = True
        try:
            session = load(path, keyed=keyed, ledger=uri)
        except PacsklearnError:
            continue
        finally:
            listens[0] = False
        accepted += 1
        ledger = SharedLedger(uri)
        verify_ledger(ledger)
        assert [event.charge for event in ledger.events][-1] == 0
        with contextlib.suppress(Exception):  # it may refuse: its numbers are others
            go_on(session)
    assert not heard, heard[:5]
    assert [dict(vars(each)) for each in classes] == known
    assert not {name.partition(":")[0] for name in NAMES[:3]} & set(sys.modules)
    told.send(accepted)


def _writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def run_mutants(folder: Path, count: int, *, keyed: bool) -> None:
    heard, told = FORK.Pipe(duplex=False)
    child = FORK.Process(
        target=mutants_change_nothing, args=(folder, count, told), kwargs={"keyed": keyed}
    )
    child.start()
    child.join(500)
    assert child.exitcode == 0
    # Neither everything nor nothing is refused: the fault is found where it is one.
    assert 0 < heard.recv() < count


@pytest.mark.product(only=1)
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.usefixtures("saved")
def test_mutants_change_nothing_outside_their_process(tmp_path: Path, *, keyed: bool) -> None:
    run_mutants(tmp_path, 60, keyed=keyed)


@pytest.mark.soak
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.usefixtures("saved")
def test_a_thousand_mutants_change_nothing(tmp_path: Path, *, keyed: bool) -> None:
    run_mutants(tmp_path, 1000, keyed=keyed)
