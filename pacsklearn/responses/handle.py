"""A way to hold a session from something that is copied, pickled and displayed."""

from __future__ import annotations

import os
import uuid
import weakref
from typing import Any, ClassVar, final

from pacsklearn.core.home_process import HomeProcess
from pacsklearn.exceptions import ForeignProcessError

__all__ = ["SessionHandle"]

_WHAT = "The secret behind these private answers"


@final
class SessionHandle:
    """Name of something secret that lives in this process, and in this process only.

    Copies and pickles of a handle hold the name alone. In the process that made it they lead to
    the same object, so that nobody gets a second budget; anywhere else they lead to an error.

    Parameters
    ----------
    held : object
    """

    _known: ClassVar[weakref.WeakValueDictionary[str, _Held]] = weakref.WeakValueDictionary()
    __slots__ = ("_held", "_name")

    def __init__(self, held: Any) -> None:
        self._name = f"{os.getpid()}-{uuid.uuid4().hex}"
        self._held: _Held | None = _Held(held)
        self._known[self._name] = self._held

    def get(self) -> Any:
        """Return what is held.

        Raises
        ------
        ForeignProcessError
            In another process, or after the session has gone.
        """
        if self._held is None:
            raise ForeignProcessError(_WHAT)
        self._held.home.check()
        return self._held.value

    def __copy__(self) -> SessionHandle:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SessionHandle:
        return self

    def __getstate__(self) -> str:
        return self._name

    def __setstate__(self, name: str) -> None:
        self._name = name
        self._held = self._known.get(name)

    def __repr__(self) -> str:
        return "SessionHandle(...)"


@final
class _Held:
    """What handles of one name lead to; a forked child knows it too, with its home."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.home = HomeProcess(_WHAT)
