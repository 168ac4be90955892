"""A session in a file: everything it needs to go on in another process."""

from __future__ import annotations

import hashlib
import hmac
import io
import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacsklearn.candidates.candidates import listed_space
from pacsklearn.candidates.models import CandidateModels, stack
from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.event import Event
from pacsklearn.core.ledger import Ledger
from pacsklearn.core.model_digest import model_digest
from pacsklearn.core.replacement_file import replacement_file
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.exceptions import BundleError, LedgerError, SessionFileError, SessionRolledBackError
from pacsklearn.noise.sampler import SeededSampler
from pacsklearn.release.account import ledger_unit
from pacsklearn.release.procedure import ReleaseProcedure
from pacsklearn.responses.answer_kind import AnswerKind
from pacsklearn.responses.responders import Responders
from pacsklearn.responses.stored_answers import ResponderState
from pacsklearn.session.session_key import SALT, check_owner, digest_with


def models_without_code(models: Mapping[str, CandidateModels]) -> dict[str, bytes]:
    """Those models that skops can write, by name; others hold other classes than ours.

    Nothing is returned that would not be read back as the same models, bit for bit.
    """
    if find_spec("skops") is None:
        return {}
    written = {name: _without_code(each) for name, each in models.items()}
    return {name: content for name, content in written.items() if content is not None}


def _without_code(models: CandidateModels) -> bytes | None:
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    from pacsklearn.publishing.model_file import from_file

    try:
        content: bytes = skops.io.dumps({"models": list(models.models), "n_jobs": models.n_jobs})
        # Read back and compared: a writer that drops a digit would change answers after loading.
        again = from_file(content)["models"]
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError, BundleError):
        return None
    pairs = zip(models.models, again, strict=True)
    return (
        content if all(model_digest(ours) == model_digest(read) for ours, read in pairs) else None
    )


def models_from(content: bytes) -> CandidateModels:
    """Models that :func:`models_without_code` wrote; calls only classes on a list of ours.

    Raises
    ------
    SessionFileError
        When skops is not installed.
    BundleError
        When the content asks for anything else.
    """
    if find_spec("skops") is None:
        raise SessionFileError(
            "This session's models are in skops's format: pip install 'pacsklearn[publish]'."
        )
    from pacsklearn.publishing.model_file import from_file

    read = from_file(content)
    return CandidateModels(tuple(read["models"]), stack(read["models"]), read["n_jobs"])


_MAGIC: Final = b"pacsklearn session 5\n"
_KEYED, _UNKEYED = b"K", b"U"
_MODEL_FILES: Final = "model_files"
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
    certificate : tuple
        Certified figure of what was released first, and how many releases shared a charge.
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
    certificate: tuple[tuple[float, float] | None, int]
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
    # A reservation is charged under its own keys, which a loaded session would not find.
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

    attached = (
        state.ledger
        if ledger is None
        else open_ledger(ledger, ceiling=None, unit=ledger_unit(state.options["criterion"]))
    )
    if not isinstance(attached, SharedLedger):
        raise LedgerError(
            "ledger must be the ledger in a database that the session was saved with, got "
            f"{type(attached).__name__}."
        )
    try:
        is_ahead = attached.is_ahead_of(state.position)
    except LedgerError as error:
        raise LedgerError(
            f"The ledger of this session is not at {attached.uri} any more ({error}) If it was "
            "moved, say where it is: PrivacySession.load(path, ledger='sqlite:///path')."
        ) from None
    if not is_ahead:
        raise SessionRolledBackError(
            "The ledger does not hold what it held when the session was saved: it is an older "
            "copy, or another ledger. Give the one in use with ledger='sqlite:///path'."
        )
    return attached


def session_state(
    X: Any, y: Any, procedure: ReleaseProcedure, responders: Responders, options: Mapping[str, Any]
) -> SessionState:
    """State of a session as it is now; its lock is held.

    Raises
    ------
    LedgerError
        When it has no ledger in a database.
    """
    account = procedure.account
    position = shared_position(account.shared, account.own, account.session)
    assert account.shared is not None
    models, remembered = responders.export()
    sampler = procedure.secret.sampler
    return SessionState(
        X=X,
        y=y,
        space=listed_space(procedure.space),
        generator=sampler.generator if isinstance(sampler, SeededSampler) else None,
        drawn=procedure.secret.export(),
        ceiling=account.own.ceiling,
        events=account.own.events,
        session=account.session,
        n_charged=account.n_charged,
        ledger=account.shared,
        position=position,
        models=models,
        responders=remembered,
        certificate=procedure.certificate.export(),
        options=dict(options),
    )


def write_session(path: str | os.PathLike[str], state: SessionState, key: Any = None) -> None:
    """Write a file that only its owner can read; an earlier one is replaced when all is on disk.

    Raises
    ------
    SessionFileError
        When the session holds what only a keyed file may hold.
    """
    facts, objects = _split(state)
    if "models" in objects:
        facts[_MODEL_FILES] = without_code = models_without_code(state.models)
        objects["models"] = {
            name: each for name, each in state.models.items() if name not in without_code
        }
        if not objects["models"]:
            del objects["models"]
    if objects and key is None:
        raise SessionFileError(
            f"This session holds objects ({', '.join(sorted(objects))}) whose loading runs code "
            "(models are written without where skops is installed and can), "
            "so its file needs a key that tells that nobody else has written it: "
            "save(path, key='a long passphrase'), or key=Path('session.key')."
        )
    salt = os.urandom(SALT)
    digest = digest_with(key, salt)
    with replacement_file(path) as file:
        file.write(_MAGIC + (_KEYED if key is not None else _UNKEYED) + salt)
        place = file.tell()
        # Room for the digest, which is known only when all has gone by.
        file.write(bytes(_DIGEST))
        content = _Digesting(file, digest)
        pickle.dump(facts, content, protocol=5)
        pickle.dump(objects, content, protocol=5)
        file.seek(place)
        file.write(digest.digest())


def read_session(
    path: str | os.PathLike[str], key: Any = None, *, trusted: bool = False
) -> SessionState:
    """Read what :func:`write_session` wrote.

    Raises
    ------
    SessionFileError
        Before anything in it is run, when the file is something else, was altered, may have been
        written by somebody else, or needs another key.
    """
    name = repr(os.fspath(path))
    with Path(path).expanduser().open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise SessionFileError(
                f"{name} is not a file that PrivacySession.save wrote, or one of another version."
            )
        check_owner(file, path)
        is_keyed, salt = file.read(len(_KEYED)) == _KEYED, file.read(SALT)
        if is_keyed and key is None:
            raise SessionFileError(f"{name} was saved with a key; give it: load(path, key=...).")
        if not is_keyed and not trusted:
            raise SessionFileError(
                f"{name} was saved without a key, so nothing tells who has written it. If you know "
                "that it is yours: load(path, trusted=True)."
            )
        # All of it is verified before any of it is unpickled: unpickling runs what was written.
        digest = digest_with(key if is_keyed else None, salt)
        expected, start = file.read(_DIGEST), file.tell()
        while block := file.read(2**20):
            digest.update(block)
        if not hmac.compare_digest(digest.digest(), expected):
            wrong = "is damaged, or was saved with another key" if is_keyed else "is damaged"
            raise SessionFileError(
                f"{name} {wrong}: it does not have the content it was saved with."
            )
        file.seek(start)
        try:
            # Also with a key: what needs no code is read without any.
            facts = _Facts(file).load()
            objects = pickle.load(file) if is_keyed else {}  # noqa: S301 - by whoever has the key
            if _MODEL_FILES in facts:
                files = facts.pop(_MODEL_FILES)
                read = {name: models_from(content) for name, content in files.items()}
                objects["models"] = read | objects.get("models", {})
            state = SessionState(**{**facts, **objects})
        except SessionFileError:
            raise
        # The message of what failed is not quoted: it may show rows.
        except Exception as error:  # noqa: BLE001 - whatever is in there is no session
            kind = type(error).__name__
        else:
            return state
    raise SessionFileError(f"{name} does not hold a session ({kind}).")


def _split(state: SessionState) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields that are numbers, texts and arrays; and those whose loading runs code."""
    facts = {field.name: getattr(state, field.name) for field in fields(state)}
    objects = {name: facts.pop(name) for name in [*facts] if not _is_plain(facts[name])}
    return facts, objects


def _is_plain(value: Any) -> bool:
    """Whether :class:`_Facts` would read it again."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return True
    buffer = io.BytesIO(pickle.dumps(value, protocol=5))
    try:
        _Facts(buffer).load()
    except pickle.UnpicklingError:
        return False
    return True


@final
class _Facts(pickle.Unpickler):
    """Reads arrays, numbers, texts and records of pacsklearn; nothing that runs code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.partition(".")[0], name) in _ARRAYS:
            return super().find_class(module, name)
        if module.partition(".")[0] == "pacsklearn" and "." not in name:
            resolved = super().find_class(module, name)
            record = isinstance(resolved, type) and (
                is_dataclass(resolved) or issubclass(resolved, _RECORDS)
            )
            # An estimator's parameters are a dataclass too, and what it holds may be anything.
            if record and not issubclass(resolved, BaseEstimator):
                return resolved
        raise pickle.UnpicklingError(f"{module}.{name} is no plain fact")


_RECORDS = (Ledger, AnswerKind, Enum)
_ARRAYS = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy", "scalar"),
    ("numpy", "_reconstruct"),
    ("numpy", "_frombuffer"),
}


@final
class _Digesting:
    """File that feeds a digest with what goes through it."""

    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, content: Any) -> int:
        self._digest.update(content)
        return self._file.write(content)
