"""What an API key looks like, and how its secret part is hashed."""

from __future__ import annotations

from typing import Final

from argon2 import PasswordHasher

HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
"""argon2id with the parameters that OWASP recommends."""

PREFIX: Final = "pac"


def parse_key(key: str) -> tuple[str, str]:
    """Public name and secret part of ``pac_<name>_<secret>``; empty texts when it is none."""
    prefix, _, rest = key.partition("_")
    name, _, secret = rest.partition("_")
    if prefix != PREFIX or not name or not secret or not key.isascii() or len(key) > 200:
        return "", ""
    return name, secret
