"""A thread for each database: no interrupt stops it halfway, and callers who wait share a commit.

Python runs signal handlers in the main thread alone, between any two instructions: Ctrl-C after a
lock was taken and before its ``with`` block, or in the middle of a transaction. In a thread of its
own a transaction ends one way or the other, and whatever a caller asks next comes after it, also
when that caller was interrupted while it waited.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.log import Log

MOST_OPEN: Final = 8
"""Databases that are kept open, beyond those somebody waits for."""

_MOST_TOGETHER: Final = 256
_LOOK_AGAIN: Final = 1.0
"""Seconds after which whoever waits looks whether the thread still lives."""
_LAST_WAIT: Final = 5.0

_WRITERS: dict[str, Writer] = {}
_MUTEX = threading.Lock()  # of the writers
_PAUSED: list[Any] = []  # locks that a fork holds
# After a fork that Python did not see: even closing the parent's connection would break its locks.
_ABANDONED: list[Writer] = []


class Job:
    """What a caller waits for while the thread does it.

    Parameters
    ----------
    work : callable
        Of the log.
    """

    together: Hashable = None
    """Jobs that follow each other and have the same one, not None, are done together."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def do(self, log: Log, jobs: Sequence[Any]) -> list[Any]:
        """Do these jobs, of which this is the first; a result or an error for each."""
        return [job.work(log) for job in jobs]

    def finish(self, result: Any) -> None:
        """Let the caller go on, with a result or an error."""
        if isinstance(result, BaseException):
            self._error = result
        else:
            self._result = result
        self._done.release()

    def is_done(self, timeout: float) -> bool:
        """Whether it was finished within so many seconds."""
        return self._done.acquire(timeout=timeout)

    def outcome(self) -> Any:
        """Result, or the error that it ended with."""
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            self._error = None  # its traceback holds this frame


@final
class Writer:
    """Jobs of one database, done one after the other, in the order they came.

    Parameters
    ----------
    address : str
    """

    def __init__(self, address: str) -> None:
        self.pid = os.getpid()
        self.address = address
        self.busy = threading.RLock()
        """Held while jobs are done; a fork waits for it."""
        self.log: Log | None = None
        self.used = 0.0
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._taken: list[Job] = []
        self._alive = threading.Lock()
        self._thread = 0

    def perform(self, job: Job) -> Any:
        """Outcome of a job, after all that came before it."""
        while True:
            if not self._alive.locked():
                self._start()
            if job.is_done(_LOOK_AGAIN):
                return job.outcome()

    def add(self, job: Job) -> None:
        """Have it done; follow with :meth:`perform`."""
        self.used = time.monotonic()
        self._jobs.put(job)

    @property
    def is_here(self) -> bool:
        """Whether the caller is the thread itself."""
        return self._thread == threading.get_ident()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return self._jobs.empty() and not self._taken

    def stop(self) -> None:
        """End the thread when everything is done; a new job starts it again."""
        self._jobs.put(None)

    def close(self) -> None:
        """Give the connection back."""
        log, self.log = self.log, None
        if log is not None:
            log.close()

    def _start(self) -> None:
        try:
            _thread.start_new_thread(self._run, (True,))
        except RuntimeError:  # the interpreter is ending, or there are no more threads
            self._run(False)

    def _run(self, wait: bool) -> None:
        # The thread itself says that it lives: one call starts it, so no interrupt comes between.
        if not self._alive.acquire(blocking=False):
            return
        self._thread = threading.get_ident()
        try:
            while self._take(wait):
                with self.busy:
                    self._do()
        except BaseException as error:  # noqa: BLE001 - whoever waits must not wait for ever
            taken, self._taken = self._taken, []
            for job in taken:
                job.finish(error)
        finally:
            self._thread = 0
            self._alive.release()

    def _take(self, wait: bool) -> bool:
        """Take the jobs that are waiting now, in the order they came; whether there are any."""
        with suppress(Empty):
            while len(self._taken) < _MOST_TOGETHER:
                job = self._jobs.get(wait and not self._taken)
                if job is None:
                    if self._taken:
                        self._jobs.put(None)
                    break
                self._taken.append(job)
        return bool(self._taken)

    def _do(self) -> None:
        while self._taken:
            first, count = self._taken[0], 1
            if first.together is not None:
                while count < len(self._taken) and self._taken[count].together == first.together:
                    count += 1
            try:
                if self.log is None:
                    self.log = _opened(self.address)
                results = first.do(self.log, self._taken[:count])
                self.log.rest()
            except BaseException as error:  # noqa: BLE001 - it is the callers', who wait for it
                results = [error] * count
            for result in results:
                self._taken.pop(0).finish(result)


def perform(address: str, job: Job) -> Any:
    """Have a job done by a database's thread, after all that came before it, and wait.

    An interrupt ends the wait, never a transaction.
    """
    with _MUTEX:
        writer = _WRITERS.get(address)
        if writer is None or writer.pid != os.getpid():
            if writer is not None:
                _ABANDONED.append(writer)
            writer = _WRITERS[address] = Writer(address)
        if writer.is_here:
            raise RuntimeError("A ledger was asked from inside its own transaction.")
        writer.add(job)
        if len(_WRITERS) > MOST_OPEN:
            _forget_one()
    return writer.perform(job)


def run(address: str, work: Callable[[Any], Any]) -> Any:
    """Do something with a database's log, in its thread."""
    return perform(address, Job(work))


def close_all() -> None:
    """Give up this process's connections to databases; the next use of a ledger opens others."""
    with _MUTEX:
        writers = list(_WRITERS.values())
    for writer in writers:
        with writer.busy:
            writer.close()


def _opened(address: str) -> Log:
    if address.startswith("sqlite:"):
        from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog

        return SQLiteLog(address)
    try:
        from pacsklearn.postgres.postgres_log import PostgresLog
    except ImportError:
        raise LedgerError(
            "A ledger on a PostgreSQL server needs psycopg: pip install 'pacsklearn[postgres]'."
        ) from None
    return PostgresLog(address)


def _forget_one() -> None:
    """Close the database that was used longest ago, among those that nobody waits for."""
    idle = [writer for writer in _WRITERS.values() if writer.is_idle]
    if idle:
        writer = min(idle, key=lambda writer: writer.used)
        if writer.busy.acquire(blocking=False):
            try:
                if writer.is_idle:
                    _WRITERS.pop(writer.address).stop()
                    writer.close()
            finally:
                writer.busy.release()


def _at_exit() -> None:
    for writer in list(_WRITERS.values()):
        if writer.busy.acquire(timeout=_LAST_WAIT):
            writer.close()


def _before_fork() -> None:
    # No connection may be carried across a fork, even to close it, and no transaction be under way.
    _PAUSED.append(_MUTEX)
    _MUTEX.acquire()
    for writer in _WRITERS.values():
        _PAUSED.append(writer.busy)
        writer.busy.acquire()
    for writer in _WRITERS.values():
        writer.close()


def _in_parent() -> None:
    while _PAUSED:
        with suppress(RuntimeError):  # an interrupt came before it was taken
            _PAUSED.pop().release()


def _in_child() -> None:
    global _MUTEX  # noqa: PLW0603 - nobody is left who could release it
    _MUTEX = threading.Lock()
    _PAUSED.clear()
    _WRITERS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
atexit.register(_at_exit)
