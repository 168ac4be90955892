"""A key that shows itself to nobody."""

from __future__ import annotations

import os
from typing import Final, final

VARIABLE: Final = "PACSKLEARN_SERVICE_KEY"
"""Environment variable that holds a key where none is given."""


@final
class ApiKey:
    """An API key or token, which no repr, no diagram of a pipeline and no text shows.

    Parameters
    ----------
    secret : str
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        own = secret.strip()  # a file that holds it ends with a new line
        if not (own.isascii() and own.isprintable() and own):  # and so cannot add a header
            raise ValueError("key must hold printable ASCII characters only, as it was issued")
        self._secret = own

    def reveal(self) -> str:
        """Return the key itself, for a request's header."""
        return self._secret

    def __repr__(self) -> str:
        return "ApiKey(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    @classmethod
    def of(cls, key: ApiKey | str | None) -> ApiKey:
        """Return the key as given, or that of the environment."""
        if isinstance(key, ApiKey):
            return key
        text = os.environ.get(VARIABLE) if key is None else key
        if not text:
            raise ValueError(
                f"key must be an API key or a token; got none. Give one, or set {VARIABLE}."
            )
        return cls(text)
