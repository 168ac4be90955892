"""A thread for each database: no interrupt stops it halfway, and callers who wait share a commit.

Python runs signal handlers in the main thread alone, between any two instructions: Ctrl-C after a
lock was taken and before its ``with`` block, or in the middle of a transaction. In a thread of its
own a transaction ends one way or the other, and whatever a caller asks next comes after it, also
when that caller was interrupted while it waited. Queues of the standard library written in C are
all that the two sides share: no interrupt leaves them locked.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, final

from pacsklearn.kernel.ledger.log import Log, log_class

MOST_OPEN: Final = 8
"""Databases that are kept open, beyond those somebody waits for."""

_MOST_TOGETHER: Final = 256
_LOOK_AGAIN: Final = 1.0
"""Seconds after which whoever waits looks whether the thread still lives."""
_LAST_WAIT: Final = 5.0

Do = Callable[[Log, Sequence[Any]], Sequence[Any]]

_WRITERS: OrderedDict[str, Writer] = OrderedDict()  # the one that was used last comes last
_MUTEX = threading.Lock()  # of the writers
_PAUSED: list[Any] = []  # locks that a fork holds
# After a fork that Python did not see: even closing the parent's connection would break its locks.
_ABANDONED: list[Writer] = []


class _Job(NamedTuple):
    together: Hashable
    do: Do
    work: Any
    reply: SimpleQueue[Any]


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
        self.thread = 0
        """Which it is, while it lives."""
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.n_added = self.n_done = 0
        self._alive = threading.Lock()

    def wait(self, reply: SimpleQueue[Any]) -> Any:
        """What was replied, from a thread that lives."""
        while True:
            if not self._alive.locked():
                try:
                    _thread.start_new_thread(self._run, (True,))
                except RuntimeError:  # the interpreter is ending, or there are no more threads
                    self._run(False)
            with suppress(Empty):
                return reply.get(timeout=_LOOK_AGAIN)

    def close(self) -> None:
        """Give the connection back."""
        log, self.log = self.log, None
        if log is not None:
            log.close()

    def _run(self, wait: bool) -> None:
        # The thread itself says that it lives: one call starts it, so no interrupt comes between.
        if not self._alive.acquire(blocking=False):
            return
        self.thread = threading.get_ident()
        jobs: list[_Job] = []
        try:
            while self._take(jobs, wait):
                with self.busy:
                    self._do(jobs)
        except BaseException as error:  # noqa: BLE001 - whoever waits must not wait for ever
            self.n_done += len(jobs)
            for job in jobs:
                job.reply.put(error)
        finally:
            self.thread = 0
            self._alive.release()

    def _take(self, jobs: list[_Job], wait: bool) -> bool:
        """Take the jobs that are waiting now, in the order they came; whether there are any."""
        with suppress(Empty):
            while len(jobs) < _MOST_TOGETHER:
                job = self.jobs.get(wait and not jobs)
                if job is None:  # nobody will come any more
                    if jobs:
                        self.jobs.put(None)
                    else:
                        with self.busy:
                            self.close()
                    break
                jobs.append(job)
        return bool(jobs)

    def _do(self, jobs: list[_Job]) -> None:
        while jobs:
            first = jobs[0]
            some = [*takewhile(lambda job: job.together == first.together, jobs)]  # noqa: B023
            some = jobs[:1] if first.together is None else some
            try:
                if self.log is None:
                    self.log = log_class(self.address)(self.address)
                results = first.do(self.log, [job.work for job in some])
                self.log.rest()
            except BaseException as error:  # noqa: BLE001 - it is the callers', who wait for it
                results = [error] * len(some)
            for job, result in zip(some, results, strict=True):
                del jobs[0]
                self.n_done += 1
                job.reply.put(result)


def perform(address: str, do: Do, work: Any, together: Hashable = None) -> Any:
    """Have work done by a database's thread, after all that came before it, and wait.

    An interrupt ends the wait, never a transaction.

    Parameters
    ----------
    address : str
    do : callable
        Gives a result, or an error, for each of several works.
    work : object
    together : hashable, optional
        Works that follow each other and have the same one, not None, are done together.
    """
    reply: SimpleQueue[Any] = SimpleQueue()
    with _MUTEX:
        writer = _WRITERS.get(address)
        if writer is None or writer.pid != os.getpid():
            if writer is not None:
                _ABANDONED.append(writer)
            writer = _WRITERS[address] = Writer(address)
        _WRITERS.move_to_end(address)
        if writer.thread == threading.get_ident():
            raise RuntimeError("A ledger was asked from inside its own transaction.")
        writer.n_added += 1
        writer.jobs.put(_Job(together, do, work, reply))
        for idle in [each for each in _WRITERS.values() if each.n_added == each.n_done]:
            if len(_WRITERS) > MOST_OPEN:
                _WRITERS.pop(idle.address).jobs.put(None)
    result = writer.wait(reply)
    try:
        if isinstance(result, BaseException):
            raise result
        return result
    finally:
        del result  # whose traceback holds this frame


def run(address: str, work: Callable[[Any], Any]) -> Any:
    """Do something with a database's log, in its thread."""
    return perform(address, lambda log, works: [works[0](log)], work)


def close_all() -> None:
    """Give up this process's connections to databases; the next use of a ledger opens others."""
    with _MUTEX:
        writers = list(_WRITERS.values())
    for writer in writers:
        with writer.busy:
            writer.close()


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
