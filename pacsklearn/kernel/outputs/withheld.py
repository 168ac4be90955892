"""Suppress what work on private rows says by the way, in every thread and worker it begins."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import re
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Final, cast, final

try:
    import fcntl
except ImportError:  # where there are no such descriptors
    fcntl = None  # type: ignore[assignment]

Kinds = list[type[Warning]]


@contextmanager
def withheld() -> Iterator[Kinds]:
    """Withhold warnings, log records and prints of this thread, and of threads begun meanwhile.

    A thread that the work itself begins, and those that it begins in turn, are withheld for their
    lifetime: a timer may speak long after the block has ended.

    ``warnings.catch_warnings`` will not do: it changes the process's own filters and puts them back
    in whatever order threads leave, so that in a worker thread a warning about rows is printed.
    Here every warning passes one place, which asks in which thread it was given. So does what is
    written to ``sys.stdout`` and ``sys.stderr``. Warnings and prints of threads that were there
    before, and have no such block of their own, are shown as ever.

    Yields
    ------
    list of Warning classes
        What was warned about, for the caller to count; the texts may quote rows.
    """
    kinds: Kinds = []
    with _interruptible(_BLOCKS, kinds):
        yield kinds


@contextmanager
def unprinted() -> Iterator[None]:
    """Withhold also what compiled code prints, where nobody else's output is lost by it.

    The streams' descriptors are the process's. So this is done in worker processes, and in the main
    thread where all others are in the background (joblib's, noise drawn ahead); elsewhere nothing
    is, and other threads go on printing.
    """
    with _interruptible(_DESCRIPTORS, object()) if _is_alone() else nullcontext():
        yield


@contextmanager
def silence() -> Iterator[None]:
    """Withhold also whatever is printed, by Python or by compiled code: for the secret's own work.

    What one candidate prints, all candidates print; what the drawn secret alone prints is about it.
    Both output streams are the process's: what other threads print meanwhile is lost as well, and
    one such block is open at a time. Threads that the work began are ended with the block, before
    they run another line of Python; only those of process pools, which serve later work too, go on.
    Not covered: threads that compiled code begins and Python does not know of.
    """
    with (
        _STREAMS,
        withheld() as kinds,
        _interruptible(_DESCRIPTORS, object()),
        open(os.devnull, "w", encoding="utf-8") as nowhere,  # noqa: PTH123
    ):
        before = sys.stdout, sys.stderr
        try:
            sys.stdout = sys.stderr = nowhere
            yield
        finally:
            sys.stdout, sys.stderr = before
            _BLOCKS.end_threads(kinds)


@contextmanager
def _interruptible(blocks: _Descriptors | _Blocks, block: Any) -> Iterator[None]:
    """Hold a block open, left twice where an interrupt comes: Ctrl-C leaves nothing withheld."""
    try:
        blocks.enter(block)
        yield
    finally:
        try:
            blocks.leave(block)
        except BaseException:
            blocks.leave(block)
            raise


@final
class _Descriptors:
    """The process's output descriptors, turned away while any block wants them to be."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._blocks: list[object] = []
        self._saved: list[tuple[int, int]] = []

    def enter(self, block: object) -> None:
        """Hold back whatever is written to the descriptors from now on, by any thread."""
        with self._lock:
            self._blocks.append(block)
            if self._saved:
                return
            _flush()
            self._saved = [(stream, _aside(stream)) for stream in filter(_is_open, (1, 2))]
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream, _ in self._saved:
                os.dup2(nowhere, stream)
            os.close(nowhere)

    def leave(self, block: object) -> None:
        with self._lock:
            self._blocks = list(filter(lambda one: one is not block, self._blocks))
            if self._blocks or not self._saved:
                return
            _flush()
            for stream, saved in self._saved:
                os.dup2(saved, stream)
            put_back, self._saved = self._saved, []
            for _, saved in put_back:
                os.close(saved)


@final
class _Printed:
    """Stands for an output stream: what a thread with an open block writes is lost."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: Any) -> Any:
        return len(text) if _BLOCKS.hold() else self.stream.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        """Of bytes, which are withheld as well."""
        return _Printed(self.stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@final
class _Blocks:
    """The open blocks of all threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # Reentrant: a finalizer may warn while its thread holds it.
        self._open: list[tuple[threading.Thread, Kinds]] = []
        self._there_before: frozenset[threading.Thread] = frozenset()
        # Threads that work in a block began, and what that block notes.
        self._begun: weakref.WeakKeyDictionary[threading.Thread, Kinds] = (
            weakref.WeakKeyDictionary()
        )

    def begin(self, thread: threading.Thread) -> None:
        """Withhold a thread for its lifetime, where the one that starts it is withheld."""
        starter = threading.current_thread()
        with self._lock:
            kinds = next((one for owner, one in reversed(self._open) if owner is starter), None)
            kinds = self._begun.get(starter) if kinds is None else kinds
            if kinds is None:
                return
            self._begun[thread] = kinds
        run = thread.run

        def run_silently() -> None:
            # How it ends is not told either: hooks for errors of threads are other people's.
            with suppress(BaseException):
                run()

        thread.run = run_silently  # type: ignore[method-assign]

    def end_threads(self, kinds: Kinds) -> None:
        """End the threads that began in a block: each raises SystemExit at its next line."""
        with self._lock:
            begun = list(self._begun.items())
        for thread, block in begun:
            if block is kinds and thread in threading.enumerate() and thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
                )

    def enter(self, kinds: Kinds) -> None:
        with self._lock:
            if not self._open:
                self._there_before = frozenset(threading.enumerate())
                _leave_filters()
                _stand_in()
            _listen()
            self._open.append((threading.current_thread(), kinds))

    def leave(self, kinds: Kinds) -> None:
        with self._lock:
            self._open = list(filter(lambda block: block[1] is not kinds, self._open))
            if not self._open:
                self._there_before = frozenset()
                # A thread that goes on warns and writes by way of what stands there for it.
                # is_alive() of one whose join() was interrupted says that it has ended.
                if not any(thread in threading.enumerate() for thread in self._begun):
                    _leave_filters()
                    _step_back()

    def hold(self, kind: type[Warning] | None = None) -> bool:
        """Return whether what this thread says is withheld; ``kind`` is noted then."""
        if not self._open and not self._begun:
            return False
        with self._lock:
            thread = threading.current_thread()
            if thread in self._begun:
                if kind is not None:
                    self._begun[thread].append(kind)
                return True
            own = next((kinds for owner, kinds in reversed(self._open) if owner is thread), None)
            if own is None and (not self._open or thread in self._there_before):
                return False
            # A thread that began meanwhile is told apart only while one block is open.
            heard = self._open[0][1] if own is None else own
            if kind is not None and (own is not None or len(self._open) == 1):
                heard.append(kind)
            return True

    def forked(self) -> None:
        """Replace the lock, which may have been held by a thread that the child does not have."""
        self._lock = threading.RLock()


@final
class _Matcher:
    """In a filter: matches whatever a thread with an open block warns about.

    Parameters
    ----------
    here : bool
        In this process; otherwise in one that a block starts, and nothing in this one.
    """

    def __init__(self, *, here: bool) -> None:
        self._here = here

    def match(self, text: str) -> bool:
        return self._here and _BLOCKS.hold()

    @property
    def pattern(self) -> str:
        """What scikit-learn's workers filter by in this thread, in place of the above."""
        return _EVERYTHING if self.match("") else _NOTHING

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return re.compile, (_EVERYTHING if not self._here and _BLOCKS.hold() else _NOTHING,)


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


def _start(thread: threading.Thread) -> None:
    """Start a thread, and note it where work in a block does so; process pools start their own."""
    if not sys._getframe(1).f_globals.get("__name__", "").startswith(_POOLS):
        _BLOCKS.begin(thread)
    _THREAD_START(thread)


def _listen() -> None:
    """See to it that warnings and records come by, and that no filter turns them into errors."""
    if threading.Thread.start is not _start:
        threading.Thread.start = _start  # type: ignore[assignment]
    if not isinstance(warnings._showwarnmsg, _Show):  # type: ignore[attr-defined]
        # showwarning itself is replaced and put back by every catch_warnings of every thread.
        warnings._showwarnmsg = _Show(warnings._showwarnmsg)  # type: ignore[attr-defined]
    if not isinstance(logging.getLogRecordFactory(), _Records):
        logging.setLogRecordFactory(_Records(logging.getLogRecordFactory()))
    filters = _filters()
    warnings.simplefilter("always", _NeverGiven)
    filters.remove(_FORGET)
    for ours in _FILTERS:
        if ours not in filters:
            filters.insert(0, ours)


def _leave_filters() -> None:
    filters = _filters()
    for ours in _FILTERS:
        if ours in filters:
            filters.remove(ours)


def _stand_in() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Printed):
            setattr(sys, name, _Printed(stream))


def _step_back() -> None:
    """Put the streams back, unless somebody else has put others there."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Printed):
            setattr(sys, name, stream.stream)


def _is_alone() -> bool:
    """Return whether the output descriptors are nobody else's."""
    if multiprocessing.current_process().name != "MainProcess":
        return True
    main = threading.main_thread()
    others = (one for one in threading.enumerate() if one is not main)
    return threading.current_thread() is main and all(
        one.daemon or type(one).__module__.startswith(_BACKGROUND) for one in others
    )


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


def _aside(stream: int) -> int:
    """Duplicate of a descriptor, in no place that a closed standard stream has left."""
    if fcntl is None:
        return os.dup(stream)
    return fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 3)


def _flush() -> None:
    """Let out what Python and the C library keep back of what was printed so far."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "flush") and not getattr(stream, "closed", False):  # None, a logger's
            stream.flush()
    if _C_LIBRARY is not None:
        _C_LIBRARY.fflush(None)


_C_LIBRARY: Final = ctypes.CDLL(None) if os.name == "posix" else None
_BLOCKS: Final = _Blocks()
_EVERYTHING, _NOTHING = "", "(?!)"
_BACKGROUND: Final = ("joblib.", "concurrent.")
_POOLS: Final = ("joblib.", "multiprocessing.", "concurrent.futures.process")
_THREAD_START: Final = threading.Thread.start
_STREAMS: Final = threading.RLock()
_DESCRIPTORS: Final = _Descriptors()
_FORGET: Final = ("always", None, _NeverGiven, None, 0)
_FILTERS: Final = (
    ("always", _Matcher(here=True), Warning, None, 0),
    ("ignore", _Matcher(here=False), Warning, None, 0),
)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLOCKS.forked)
