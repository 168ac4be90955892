"""The process that something secret belongs to."""

from __future__ import annotations

import os
from typing import ClassVar, NoReturn, final

from pacsklearn.exceptions import ForeignProcessError


@final
class OwnerProcess:
    """The process that made something which no other process may use.

    A secret, its account and its noise are each held together with one of these. A forked child
    has a copy of all three: it would spend the same budget about the same secret once more, with
    noise that its parent may use as well. So everything asks its owner first and refuses elsewhere.

    Parameters
    ----------
    what : str
        What belongs to the process; it begins the error's text.

    Notes
    -----
    Neither a pickle nor a copy of one can be made, so nothing that holds one can be pickled or
    copied, unless it says itself how.

    Examples
    --------
    >>> OwnerProcess("This account").is_here
    True
    """

    # Replaced in every forked child: process ids are given again after a while.
    _current: ClassVar[object] = object()
    __slots__ = ("_life", "_pid", "_what")

    def __init__(self, what: str) -> None:
        # Rule 11: a secret, its account and its noise belong to the process that drew them.
        self._what, self._pid, self._life = what, os.getpid(), self._current

    @property
    def is_here(self) -> bool:
        """Whether this is the process."""
        # A fork from compiled code does not run Python's hooks, so the id is compared as well.
        return self._life is self._current and self._pid == os.getpid()

    def check(self) -> None:
        """Refuse to go on anywhere else.

        Raises
        ------
        ForeignProcessError
            Before anything is drawn, charged or locked.
        """
        if not self.is_here:
            raise ForeignProcessError(self._what, self._pid)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{self._what} belongs to one process and can be neither pickled nor copied: a copy "
            "would spend the same budget, and use the same secret, a second time. To move a "
            "session, use PrivacySession.save and load."
        )

    def __repr__(self) -> str:
        return f"OwnerProcess({self._what!r})"


def _forked() -> None:
    OwnerProcess._current = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
