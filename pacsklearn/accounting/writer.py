"""A thread that works for one database: no interrupt ever stops it halfway."""

from __future__ import annotations

import os
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, final

_MOST_TOGETHER: Final = 256
_LOOK_AGAIN: Final = 1.0
"""Seconds after which whoever waits looks whether the thread still lives."""


class Job:
    """What a caller waits for while the thread does it.

    Parameters
    ----------
    work : callable
        Of no arguments.
    """

    batch: Hashable = None
    """Jobs that follow each other and have the same one, not None, are done together."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def do(self, jobs: Sequence[Any]) -> list[Any]:
        """Do these jobs, of which this is the first; a result or an error for each."""
        return [job._work() for job in jobs]

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

    Python runs signal handlers in the main thread alone, between any two instructions: Ctrl-C
    after a lock was taken and before its ``with`` block, or in the middle of a transaction. In a
    thread of its own a transaction ends one way or the other, and whatever a caller asks next
    comes after it, also when that caller was interrupted while it waited.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.busy = threading.RLock()
        """Held while jobs are done; a fork waits for it."""
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._alive = threading.Lock()
        self._thread = 0
        self.used = 0.0
        self._given = self._finished = 0
        self._together, self._seconds = 1, 0.0
        self._missing = 0
        self._all_here: SimpleQueue[None] = SimpleQueue()

    @property
    def is_idle(self) -> bool:
        """Whether everything is done; asked and added to under the same lock."""
        return self._given == self._finished

    def add(self, job: Job) -> None:
        """Have it done; follow with :meth:`wait`."""
        self._given += 1
        self.used = time.monotonic()
        self._jobs.put(job)
        if 0 < self._missing <= self._jobs.qsize():
            self._all_here.put(None)

    def wait(self, job: Job) -> Any:
        """Outcome of a job that was added."""
        self._start()
        while not job.is_done(_LOOK_AGAIN):
            self._start()
        return job.outcome()

    @property
    def is_here(self) -> bool:
        """Whether the caller is the thread itself."""
        return self._thread == threading.get_ident()

    def stop(self) -> None:
        """End the thread when everything is done; a new job starts it again."""
        self._jobs.put(None)

    def _start(self) -> None:
        if self._alive.locked():
            return
        try:
            start_new_thread(self._run, (True,))
        except RuntimeError:  # the interpreter is ending, or there are no more threads
            self._run(False)

    def _run(self, wait: bool) -> None:
        # The thread itself says that it lives: one call starts it, so no interrupt comes between.
        if not self._alive.acquire(blocking=False):
            return
        self._thread = threading.get_ident()
        try:
            while jobs := self._next(wait):
                self._do(jobs)
        finally:
            self._thread = 0
            self._alive.release()

    def _do(self, jobs: list[Job]) -> None:
        began = time.monotonic()
        with self.busy:
            while jobs:
                first = jobs[0]
                count = 1
                if first.batch is not None:
                    while count < len(jobs) and jobs[count].batch == first.batch:
                        count += 1
                try:
                    results = first.do(jobs[:count])
                except BaseException as error:  # noqa: BLE001 - it is the callers', who wait for it
                    results = [error] * count
                # Whoever waits now and whoever goes on now may be together the next time.
                self._together = len(jobs) + self._jobs.qsize()
                self._finished += count
                for job, result in zip(jobs[:count], results, strict=True):
                    job.finish(result)
                del jobs[:count], first, results, job, result
        self._seconds = time.monotonic() - began

    def _next(self, wait: bool) -> list[Job]:
        """Jobs that are waiting now; none to end the thread."""
        jobs: list[Job] = []
        with suppress(Empty):
            while len(jobs) < _MOST_TOGETHER:
                job = self._jobs.get(wait and not jobs)
                if job is None:
                    if jobs:
                        self._jobs.put(None)
                    break
                if wait and not jobs and job.batch is not None:
                    self._gather()
                jobs.append(job)
        return jobs

    def _gather(self) -> None:
        """Wait a little, once, for those who shared the last transaction.

        They are on their way back, and others came meanwhile: a part of the transaction's time is
        worth waiting for all. One who is alone waits for nobody.
        """
        self._missing = self._together - 1
        if self._jobs.qsize() < self._missing:
            with suppress(Empty):
                self._all_here.get(timeout=self._seconds / 3)
        self._missing = 0
        while not self._all_here.empty():
            self._all_here.get_nowait()
