"""The mark at a key's end, by which web workers tell keys of this service from guesses unasked."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

_DIGITS: Final = 16


def marked(key: str, form: bytes) -> str:
    """Return a key with its mark.

    Parameters
    ----------
    key : str
    form : bytes
        Of :attr:`Vault.form_of_keys`; whoever has it can make what looks like a key, and no key.
    """
    return key + _mark(key, form)


def is_marked(key: str, form: bytes) -> bool:
    """Return whether this service has issued a key; says nothing of whether it is valid now."""
    return hmac.compare_digest(_mark(key[:-_DIGITS], form).encode(), key[-_DIGITS:].encode())


def _mark(key: str, form: bytes) -> str:
    return hashlib.blake2b(key.encode(), key=form, digest_size=_DIGITS // 2).hexdigest()
