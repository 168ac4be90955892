"""A session in a file, and the key that tells that nobody else has written it."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final, final

from pacsklearn.estimators.plain_document import read_document, write_document
from pacsklearn.estimators.session_document import document_state, state_document
from pacsklearn.estimators.session_state import SessionState
from pacsklearn.exceptions import SessionFileError
from pacsklearn.kernel.ledger.replacement_file import replacement_file

_MAGIC: Final = b"pacsklearn session 6\n"
_KEYED, _UNKEYED = b"K", b"U"
_DIGEST: Final = hashlib.sha256().digest_size
_SALT: Final = 16
_LEAST_KEY: Final = 12
# scrypt of 32 MB and about a tenth of a second: a passphrase is no 256-bit key.
_COST: Final = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26}


def write_session(path: str | os.PathLike[str], state: SessionState, key: Any = None) -> None:
    """Write a file that only its owner can read; an earlier one is replaced when all is on disk.

    Raises
    ------
    SessionFileError
        When the session holds what is code.
    """
    document = state_document(state, models=key is not None)
    salt = os.urandom(_SALT)
    digest = digest_with(key, salt)
    with replacement_file(path) as file:
        file.write(_MAGIC + (_KEYED if key is not None else _UNKEYED) + salt)
        place = file.tell()
        # Room for the digest, which is known only when all has gone by.
        file.write(bytes(_DIGEST))
        try:
            write_document(_Digesting(file, digest), document)  # type: ignore[arg-type] # it writes
        except TypeError as error:
            raise SessionFileError(
                f"This session cannot be saved: {error}. What is saved is numbers, texts, arrays "
                "and tables, whose loading runs no code."
            ) from None
        file.seek(place)
        file.write(digest.digest())


def read_session(
    path: str | os.PathLike[str], key: Any = None, *, trusted: bool = False
) -> SessionState:
    """Read what :func:`write_session` wrote.

    Raises
    ------
    SessionFileError
        When the file is something else, was altered, may have been
        written by somebody else, or needs another key.
    """
    name = repr(os.fspath(path))
    with Path(path).expanduser().open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise SessionFileError(
                f"{name} is not a file that PrivacySession.save wrote, or one of another version."
            )
        check_owner(file, path)
        is_keyed, salt = file.read(len(_KEYED)) == _KEYED, file.read(_SALT)
        if is_keyed and key is None:
            raise SessionFileError(f"{name} was saved with a key; give it: load(path, key=...).")
        if not is_keyed and not trusted:
            raise SessionFileError(
                f"{name} was saved without a key, so nothing tells who has written it. If you know "
                "that it is yours: load(path, trusted=True, ledger='sqlite:///path')."
            )
        # All of it is verified before any of it is looked at.
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
            state = document_state(read_document(file), models=is_keyed)
        # The message of what failed is not quoted: it may show rows.
        except Exception as error:  # noqa: BLE001 - whatever is in there is no session
            kind = type(error).__name__
        else:
            # Whoever wrote a file without a key is unknown, and the ledger is not theirs to name.
            return state if is_keyed else replace(state, ledger={**state.ledger, "uri": ""})
    raise SessionFileError(f"{name} does not hold a session ({kind}).")


@final
class _Digesting:
    """File that feeds a digest with what goes through it."""

    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, content: Any) -> int:
        self._digest.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()


def digest_with(key: Any, salt: bytes) -> Any:
    """Return the keyed digest to be fed with a file; an unkeyed one for None.

    Parameters
    ----------
    key : None, str, bytes or path-like
        A passphrase, or the path of a key file.
    salt : bytes

    Raises
    ------
    SessionFileError
        When the key is too short, or others can write the key's file.
    """
    if key is None:
        # Against damage only; whoever alters the file computes it anew.
        return hashlib.sha256(salt)
    if isinstance(key, os.PathLike):
        with Path(key).expanduser().open("rb") as file:
            check_owner(file, key)
            material = file.read()
    elif isinstance(key, (str, bytes)):
        material = key.encode() if isinstance(key, str) else key
    else:
        raise TypeError(
            "key must be a passphrase (str or bytes), the path of a key file (pathlib.Path) or "
            f"None, got {type(key).__name__}."
        )
    if len(material) < _LEAST_KEY:
        raise SessionFileError(
            f"key must have at least {_LEAST_KEY} bytes, got {len(material)}; a key file of random "
            "ones is made by: head -c 32 /dev/urandom > session.key"
        )
    return hmac.new(hashlib.scrypt(material, salt=salt, dklen=32, **_COST), digestmod="sha256")


def check_owner(file: IO[bytes], path: str | os.PathLike[str]) -> None:
    """Refuse an open file that somebody else owns or may write.

    Raises
    ------
    SessionFileError
    """
    if os.name != "posix":
        return
    # Of the open file: a path could lead to another one between check and reading.
    status = os.fstat(file.fileno())
    if status.st_uid not in (os.geteuid(), 0):
        raise SessionFileError(
            f"{os.fspath(path)!r} belongs to another user, who may have written anything into it."
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SessionFileError(
            f"{os.fspath(path)!r} can be written by others; take that right away (chmod 600) if "
            "you know that nobody has."
        )
