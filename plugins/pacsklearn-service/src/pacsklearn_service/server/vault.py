"""The key that is outside the database, and everything that is made with it."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pacsklearn.estimators.session_file import check_owner
from pacsklearn.exceptions import LedgerCorruptedError, SessionFileError
from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn.kernel.secret.owner_process import OwnerProcess

_KEY: Final = 32
_NONCE: Final = 12
_DIGEST: Final = 16


@final
class Vault:
    """Encrypts what is at rest, names queries and signs statements.

    Parameters
    ----------
    key : bytes of length 32
        The master key; every use has a key of its own derived from it (HKDF, RFC 5869).

    Attributes
    ----------
    form_of_keys : bytes
        What keys are marked with (``key_form``).

    Notes
    -----
    Encryption is AES-256-GCM with a random nonce. What a text belongs to (its table and row) is
    authenticated with it, so that nobody who can write the database can move one to another place.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY:
            raise SessionFileError(
                f"The key of the service must have {_KEY} bytes, got {len(key)}; make one with: "
                "head -c 32 /dev/urandom > service.key && chmod 600 service.key"
            )
        self._owner = OwnerProcess("The key of the service")
        self._cipher = AESGCM(_derived(key, "at rest"))
        self._mac = _derived(key, "queries")
        self.form_of_keys = _derived(key, "form of keys")
        self._begun = lru_cache(1024)(self._hash_of)
        self._signer = Ed25519PrivateKey.from_private_bytes(_derived(key, "statements"))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Vault:
        """Return the vault of a key file that nobody else can write or read.

        Raises
        ------
        SessionFileError
        """
        with Path(path).expanduser().open("rb") as file:
            check_owner(file, path)
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise SessionFileError(
                    f"{os.fspath(path)!r} can be read by others; chmod 600 it, and make a new key "
                    "if somebody may have."
                )
            # One byte more: a longer file is refused, not cut off.
            return cls(file.read(_KEY + 1))

    def seal(self, content: bytes, place: str) -> bytes:
        """Encrypt what is to be stored at ``place``."""
        return self.seal_all([(content, place)])[0]

    def seal_all(self, contents: Sequence[tuple[bytes, str]]) -> list[bytes]:
        """Encrypt several contents, each to be stored at its place."""
        self._owner.check()
        nonces = secrets.token_bytes(_NONCE * len(contents))
        cut = (nonces[at : at + _NONCE] for at in range(0, len(nonces), _NONCE))
        return [
            nonce + self._cipher.encrypt(nonce, content, place.encode())
            for nonce, (content, place) in zip(cut, contents, strict=True)
        ]

    def open(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what was stored at ``place``.

        Raises
        ------
        LedgerCorruptedError
            When it was altered, moved from another place or sealed with another key.
        """
        self._owner.check()
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode())
        except (InvalidTag, ValueError):  # altered, or too short to be anything
            raise LedgerCorruptedError(
                0, f"of the service ({place}) was altered, or sealed with another key"
            ) from None

    def name(self, digest: bytes, model: str) -> bytes:
        """Return the name of a query (16 bytes), which tells nothing to who has not the key."""
        return self.names([digest], model)[0]

    def names(self, digests: Iterable[bytes], model: str) -> list[bytes]:
        """Return the names of queries."""
        begun = self._begun(model)
        names: list[bytes] = []
        for digest in digests:
            named = begun.copy()
            named.update(digest)
            names.append(named.digest())
        return names

    def _hash_of(self, model: str) -> Any:
        # By model: the same row asked of two models has names that nobody can link.
        person = hashlib.blake2b(model.encode(), digest_size=16).digest()
        return hashlib.blake2b(key=self._mac, person=person, digest_size=_DIGEST)

    def sign(self, content: bytes) -> bytes:
        """Return an Ed25519 signature (64 bytes)."""
        self._owner.check()
        return self._signer.sign(content)

    @property
    def public_key(self) -> bytes:
        """What signatures are verified with; 32 bytes."""
        return self._signer.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return "Vault(...)"

    def __reduce__(self) -> Any:
        raise TypeError("The key of the service belongs to one process and cannot be pickled.")


def make_key_file(path: str | os.PathLike[str]) -> None:
    """Write a new random key, to a file that appears as a whole; never over another."""
    target = Path(path).expanduser()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with replacement_file(draft) as file:
            file.write(secrets.token_bytes(_KEY))
        os.link(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _derived(key: bytes, use: str) -> bytes:
    # A key for each use: what leaks of one says nothing about the others.
    info = f"pacsklearn service 1: {use}".encode()
    return HKDF(algorithm=hashes.SHA256(), length=_KEY, salt=None, info=info).derive(key)
