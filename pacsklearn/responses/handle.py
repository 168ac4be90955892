"""A way to hold a session from something that is copied, pickled and displayed."""

from __future__ import annotations

import os
import uuid
import weakref
from typing import Any, ClassVar, final

__all__ = ["SessionHandle"]


@final
class SessionHandle:
    """Name of something secret that lives in this process, and in this process only.

    Copies and pickles of a handle hold the name alone. In the process that made it they lead to
    the same object, so that nobody gets a second budget; anywhere else they lead to an error.

    Parameters
    ----------
    held : object
    """

    _held: ClassVar[weakref.WeakValueDictionary[str, Any]] = weakref.WeakValueDictionary()
    __slots__ = ("_name", "_strong")

    def __init__(self, held: Any) -> None:
        self._name = f"{os.getpid()}-{uuid.uuid4().hex}"
        self._strong = held
        self._held[self._name] = held

    def get(self) -> Any:
        """Return what is held.

        Raises
        ------
        RuntimeError
            In another process, or after the session has gone.
        """
        if self._strong is not None and self._name.startswith(f"{os.getpid()}-"):
            return self._strong
        raise RuntimeError(
            "The secret behind these private answers stays in the process that fitted them: a "
            "pickle does not carry it. To move a session, use PrivacySession.save and load; to "
            "publish a model, distil it or release parameters."
        )

    def __copy__(self) -> SessionHandle:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SessionHandle:
        return self

    def __getstate__(self) -> str:
        return self._name

    def __setstate__(self, name: str) -> None:
        self._name = name
        self._strong = self._held.get(name)

    def __repr__(self) -> str:
        return "SessionHandle(...)"
