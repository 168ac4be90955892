"""Threads for databases: no interrupt stops one halfway, and callers who wait share a commit.

Python runs signal handlers in the main thread alone, between any two instructions: Ctrl-C after a
lock was taken and before its ``with`` block, or in the middle of a transaction. In a thread of its
own a transaction ends one way or the other, and whatever a caller asks next comes after it, also
when that caller was interrupted while it waited. Who asks in another thread does the work there,
with that of all who wait: it saves the change of threads. Queues of the standard library written
in C are all that the two sides share: no interrupt leaves them locked. A thread ends when nobody
waits.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, final

from pacsklearn.kernel.ledger.address import log_class
from pacsklearn.kernel.ledger.log import Log

MOST_OPEN: Final = 8
"""Databases that are kept open, beyond those somebody waits for."""

_MOST_TOGETHER: Final = 256
_LOOK_AGAIN: Final = 0.2
"""Seconds after which whoever waits looks whether a thread is at work."""
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
        """Which it is, while it is at work."""
        self.jobs: SimpleQueue[_Job] = SimpleQueue()

    def wait(self, reply: SimpleQueue[Any]) -> Any:
        """Return what was replied, from a thread that works."""
        while True:
            if not self.thread and threading.current_thread() is not threading.main_thread():
                self.work()  # no interrupt comes here
            elif not self.thread:
                try:
                    _thread.start_new_thread(self.work, ())
                except RuntimeError:  # the interpreter is ending, or there are no more threads
                    self.work()
            with suppress(Empty):
                return reply.get(timeout=_LOOK_AGAIN)

    def work(self) -> None:
        """Do the jobs that wait, unless another thread is at it."""
        # Whether there are more is asked after this thread does not count as working any more:
        # whoever adds a job then starts another one.
        while not self.jobs.empty() and self.busy.acquire(blocking=False):
            self.thread = threading.get_ident()
            jobs: list[_Job] = []
            try:
                with suppress(Empty):
                    while len(jobs) < _MOST_TOGETHER:
                        jobs.append(self.jobs.get_nowait())
                self._do(jobs)
            except BaseException as error:  # noqa: BLE001 - whoever waits must not wait for ever
                for job in jobs:
                    job.reply.put(error)
            finally:
                self.thread = 0
                self.busy.release()
        _close_idle()

    def close(self) -> None:
        """Give the connection back."""
        log, self.log = self.log, None
        if log is not None:
            log.close()

    def _do(self, jobs: list[_Job]) -> None:
        for _, group in groupby(jobs, lambda job: job if job.together is None else job.together):
            some = [*group]
            try:
                if self.log is None:
                    self.log = log_class(self.address)(self.address)
                results = some[0].do(self.log, [job.work for job in some])
                self.log.rest()
            except BaseException as error:  # noqa: BLE001 - it is the callers', who wait for it
                results = [error] * len(some)
            for job, result in zip(some, results, strict=True):
                job.reply.put(result)


def perform(address: str, do: Do, work: Any, together: Hashable = None) -> Any:
    """Have work done in a thread of the database's, after all that came before it, and wait.

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
        writer.jobs.put(_Job(together, do, work, reply))
    result = writer.wait(reply)
    try:
        if isinstance(result, BaseException):
            raise result
        return result
    finally:
        del result  # whose traceback holds this frame


def run(address: str, work: Callable[[Any], Any]) -> Any:
    """Do something with a database's log, in a thread of its own."""
    return perform(address, lambda log, works: [works[0](log)], work)


def _close_idle() -> None:
    """Give up the databases that were used longest ago and that nobody waits for."""
    with _MUTEX:
        for writer in [*_WRITERS.values()][:-MOST_OPEN]:
            if not (writer.jobs.empty() and writer.busy.acquire(blocking=False)):
                continue
            writer.close()
            del _WRITERS[writer.address]
            writer.busy.release()


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
