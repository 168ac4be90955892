"""Nothing that work on private rows says by the way is shown: in no thread, in no worker."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final, cast, final

__all__ = ["silence", "withheld"]

Kinds = list[type[Warning]]

_EVERYTHING, _NOTHING = "", "(?!)"


@contextmanager
def withheld() -> Iterator[Kinds]:
    """Withhold warnings and log records of this thread, and of threads that begin meanwhile.

    ``warnings.catch_warnings`` will not do: it changes the process's own filters and puts them back
    in whatever order threads leave, so that in a worker thread a warning about rows is printed.
    Here every warning passes one place, which asks in which thread it was given. Warnings of
    threads that were there before, and have no such block of their own, are shown as ever.

    Yields
    ------
    list of Warning classes
        What was warned about, for the caller to count; the texts may quote rows.
    """
    kinds: Kinds = []
    _BLOCKS.enter(kinds)
    try:
        yield kinds
    finally:
        _BLOCKS.leave(kinds)


@contextmanager
def silence() -> Iterator[None]:
    """Withhold also whatever is printed, by Python or by compiled code: for the secret's own work.

    What one candidate prints, all candidates print; what the drawn secret alone prints is about it.
    Both output streams are the process's: what other threads print meanwhile is lost as well, and
    one such block is open at a time.
    """
    with _STREAMS, withheld(), ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123
        _flush()
        for stream in filter(_is_open, (1, 2)):
            stack.callback(_restore, stream, os.dup(stream))
            os.dup2(nowhere.fileno(), stream)
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        stack.callback(_flush)
        yield


@final
class _Blocks:
    """The open blocks of all threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[tuple[threading.Thread, Kinds]] = []
        self._there_before: frozenset[threading.Thread] = frozenset()

    def enter(self, kinds: Kinds) -> None:
        with self._lock:
            _listen(first=not self._open)
            if not self._open:
                self._there_before = frozenset(threading.enumerate())
            self._open.append((threading.current_thread(), kinds))

    def leave(self, kinds: Kinds) -> None:
        with self._lock:
            self._open = [block for block in self._open if block[1] is not kinds]
            if not self._open:
                self._there_before = frozenset()
                _leave_filters()

    def hold(self, kind: type[Warning] | None = None) -> bool:
        """Whether what this thread says is withheld; ``kind`` is noted then."""
        if not self._open:
            return False
        with self._lock:
            thread = threading.current_thread()
            own = [kinds for owner, kinds in self._open if owner is thread]
            if not own and (not self._open or thread in self._there_before):
                return False
            # A thread that began meanwhile is told apart only while one block is open.
            heard = own[-1] if own else self._open[0][1]
            if kind is not None and (own or len(self._open) == 1):
                heard.append(kind)
            return True

    def forked(self) -> None:
        """The lock may have been held by a thread that the child does not have."""
        self._lock = threading.RLock()


@final
class _Heard:
    """In a filter: matches whatever a thread with an open block warns about."""

    def match(self, text: str) -> bool:
        return _BLOCKS.hold()

    @property
    def pattern(self) -> str:
        """What scikit-learn's workers filter by in this thread, in place of the above."""
        return _EVERYTHING if _BLOCKS.hold() else _NOTHING

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return re.compile, (_NOTHING,)


@final
class _Elsewhere:
    """In a filter: matches nothing here, and everything in a process that a block starts."""

    def match(self, text: str) -> bool:
        return False

    @property
    def pattern(self) -> str:
        return _NOTHING

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return re.compile, (_EVERYTHING if _BLOCKS.hold() else _NOTHING,)


class _NeverGiven(Warning):
    """Filtered for one thing: the interpreter forgets which warnings it has shown already."""


@final
class _Show:
    """The place that every warning passes on its way out."""

    def __init__(self, show: Callable[[Any], None]) -> None:
        self._show = show

    def __call__(self, message: Any) -> None:
        if not _BLOCKS.hold(message.category):
            self._show(message)


@final
class _Records:
    """Makes log records; those of a thread with an open block are below every handler's level."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        if _BLOCKS.hold():
            record.levelno = -1
        return record


def _listen(*, first: bool) -> None:
    """See to it that warnings and records come by, and that no filter turns them into errors."""
    if not isinstance(warnings._showwarnmsg, _Show):  # type: ignore[attr-defined]
        # showwarning itself is replaced and put back by every catch_warnings of every thread.
        warnings._showwarnmsg = _Show(warnings._showwarnmsg)  # type: ignore[attr-defined]
    if not isinstance(logging.getLogRecordFactory(), _Records):
        logging.setLogRecordFactory(_Records(logging.getLogRecordFactory()))
    filters = _filters()
    warnings.simplefilter("always", _NeverGiven)
    filters.remove(_FORGET)
    if first:
        _leave_filters()
    for ours in _FILTERS:
        if ours not in filters:
            filters.insert(0, ours)


def _leave_filters() -> None:
    filters = _filters()
    for ours in _FILTERS:
        if ours in filters:
            filters.remove(ours)


def _filters() -> list[Any]:
    # In free-threading Python filters are a context's own, and there is a function for them.
    current: Callable[[], list[Any]] | None = getattr(warnings, "_get_filters", None)
    return cast("list[Any]", warnings.filters) if current is None else current()


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


def _restore(stream: int, saved: int) -> None:
    os.dup2(saved, stream)
    os.close(saved)


def _flush() -> None:
    """Let out what Python and the C library keep back of what was printed so far."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


_BLOCKS: Final = _Blocks()
_STREAMS: Final = threading.RLock()
_FORGET: Final = ("always", None, _NeverGiven, None, 0)
_FILTERS: Final = (
    ("always", _Heard(), Warning, None, 0),
    ("ignore", _Elsewhere(), Warning, None, 0),
)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLOCKS.forked)
