"""The key of a session's file: what tells that nobody else has written it."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import IO, Any, Final

from pacsklearn.exceptions import SessionFileError

SALT: Final = 16
_LEAST_KEY: Final = 12
# scrypt of 32 MB and about a tenth of a second: a passphrase is no 256-bit key.
_COST: Final = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26}


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
