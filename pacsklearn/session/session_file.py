"""A session in a file: everything it needs to go on in another process."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.candidates.models import CandidateModels
from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.event import Event
from pacsklearn.core.ledger import Ledger
from pacsklearn.core.replacement_file import replacement_file
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.exceptions import LedgerError, SessionFileError, SessionRolledBackError
from pacsklearn.noise.sampler import SeededSampler
from pacsklearn.release.books import Books
from pacsklearn.release.session_criterion import ledger_unit
from pacsklearn.responses.responder import ResponderState
from pacsklearn.responses.responders import Responders

__all__ = [
    "SessionState",
    "check_ledger",
    "read_session",
    "session_state",
    "shared_position",
    "write_session",
]

_MAGIC: Final = b"pacsklearn session 2\n"
_DIGEST: Final = hashlib.sha256().digest_size


@final
@dataclass(frozen=True, eq=False)
class SessionState:
    """Everything that a session is; secret material.

    Parameters
    ----------
    X, y : arrays
        The universe.
    space : SecretSpace or CandidateSpace
    generator : Generator or None
        Of reproducible noise, which goes on where it was; None for the operating system's.
    drawn : (int, ndarray)
        Secret candidate, and log-belief.
    ceiling : float
    events : tuple of Event
        Of the session's own ledger.
    session : str
        Its name in the shared ledger.
    n_charged : int
        Events the shared ledger holds for it.
    ledger : Ledger
        The shared one, a handle.
    position : Position
        Of the shared ledger.
    models : mapping
        Fitted candidates by name.
    responders : mapping
        What each remembers, and the name of its models.
    options : mapping
        ``n_jobs`` and ``verbose``.
    """

    X: Any = field(repr=False)
    y: Any = field(repr=False)
    space: SecretSpace | CandidateSpace
    generator: np.random.Generator | None = field(repr=False)
    drawn: tuple[int, NDArray[np.float64]] = field(repr=False)
    ceiling: float
    events: tuple[Event, ...]
    session: str
    n_charged: int
    ledger: Ledger
    position: Any
    models: Mapping[str, CandidateModels] = field(repr=False)
    responders: Mapping[str, tuple[str, ResponderState]] = field(repr=False)
    options: Mapping[str, Any]


def shared_position(shared: Ledger | None, own: Ledger, session: str) -> Any:
    """Position of the ledger a session can be saved with.

    Raises
    ------
    LedgerError
        When nothing would notice that a file is used twice.
    """
    from pacsklearn.accounting.shared_ledger import SharedLedger

    if not isinstance(shared, SharedLedger):
        raise LedgerError(
            "A session can be saved only when it is charged to a ledger in a database, which "
            "notices a file that is loaded twice: make it with "
            "PrivacySession(..., ledger='sqlite:///path') (a reservation will not do)."
        )
    if any(not event.key.startswith(f"{session}/") for event in own.events):
        raise LedgerError(
            "A session whose own account holds reservations cannot be saved; reserve from the "
            "shared ledger."
        )
    return shared.position


def check_ledger(ledger: str | Ledger | None, state: SessionState) -> Ledger:
    """Ledger to go on with: the one the session was saved with, wherever it is now.

    Raises
    ------
    SessionRolledBackError
        When it does not hold all that it held then.
    """
    from pacsklearn.accounting.open_ledger import open_ledger
    from pacsklearn.accounting.shared_ledger import SharedLedger

    found = (
        state.ledger
        if ledger is None
        else open_ledger(ledger, ceiling=None, unit=ledger_unit(state.options["criterion"]))
    )
    if not isinstance(found, SharedLedger):
        raise LedgerError(
            "ledger must be the ledger in a database that the session was saved with, got "
            f"{type(found).__name__}."
        )
    try:
        is_ahead = found.is_ahead_of(state.position)
    except LedgerError as error:
        raise LedgerError(
            f"The ledger of this session is not at {found.uri} any more ({error}) If it was moved, "
            "say where it is: PrivacySession.load(path, ledger='sqlite:///path')."
        ) from None
    if not is_ahead:
        raise SessionRolledBackError(
            "The ledger does not hold what it held when the session was saved: it is an older "
            "copy, or another ledger. Give the one in use with ledger='sqlite:///path'."
        )
    return found


def session_state(
    X: Any, y: Any, books: Books, responders: Responders, options: Mapping[str, Any]
) -> SessionState:
    """State of a session as it is now; its lock is held.

    Raises
    ------
    LedgerError
        When it has no ledger in a database.
    """
    account = books.account
    position = shared_position(account.shared, account.own, account.session)
    assert account.shared is not None
    models, remembered = responders.export()
    sampler = books.secret.sampler
    return SessionState(
        X=X,
        y=y,
        space=books.space,
        generator=sampler.generator if isinstance(sampler, SeededSampler) else None,
        drawn=books.secret.export(),
        ceiling=account.own.ceiling,
        events=account.own.events,
        session=account.session,
        n_charged=account.n_charged,
        ledger=account.shared,
        position=position,
        models=models,
        responders=remembered,
        options=dict(options),
    )


def write_session(path: str | os.PathLike[str], state: SessionState) -> None:
    """Write a file that only its owner can read; an earlier one is replaced when all is on disk."""
    with replacement_file(path) as file:
        file.write(_MAGIC + bytes(_DIGEST))
        hashed = _Hashing(file)
        pickle.dump(state, hashed, protocol=5)
        file.seek(len(_MAGIC))
        file.write(hashed.digest())


def read_session(path: str | os.PathLike[str]) -> SessionState:
    """Read what :func:`write_session` wrote. Reading runs code: only open files of your own.

    Raises
    ------
    SessionFileError
        Before anything in it is run, when the file is something else or was altered.
    """
    with Path(path).expanduser().open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise SessionFileError(
                f"{os.fspath(path)!r} is not a file that PrivacySession.save wrote, or one of "
                "another version."
            )
        expected, start = file.read(_DIGEST), file.tell()
        if hashlib.file_digest(file, "sha256").digest() != expected:
            raise SessionFileError(
                f"{os.fspath(path)!r} is damaged: it does not have the content it was saved with."
            )
        file.seek(start)
        state: SessionState = pickle.load(file)  # noqa: S301 - the user's own, as documented
    return state


@final
class _Hashing:
    """File that computes the digest of what goes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, content: Any) -> int:
        self._hash.update(content)
        return self._file.write(content)

    def digest(self) -> bytes:
        return self._hash.digest()
