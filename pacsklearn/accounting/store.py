"""A ledger in a database: transactions of one caller, or of all that wait at the same time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from pacsklearn.accounting.entry import Founding, Position, without_password
from pacsklearn.core.accounts import Posting, Terms
from pacsklearn.core.booked_ledger import Store, charge_posting
from pacsklearn.exceptions import PacsklearnError

if TYPE_CHECKING:  # SQLAlchemy is loaded when a ledger is opened
    from pacsklearn.accounting.book import Book
    from pacsklearn.accounting.chain import Chain

__all__ = ["SQLStore"]

_MOST_TOGETHER: Final = 256
_MOST_CHAINS: Final = 64
_LOST_LEADER: Final = 0.5
"""Seconds after which those who wait look whether anybody still charges for them."""

# What this process has verified, by database and founding; used under the databases' lock only.
_CHAINS: dict[SQLStore, Chain] = {}
_QUEUES: dict[SQLStore, _Queue] = {}
_MUTEX = threading.Lock()


@final
@dataclass(eq=False)
class _Charge:
    posting: Posting
    done: bool = False
    is_new: bool = False
    error: PacsklearnError | None = None
    attempts: set[str] = field(default_factory=set)  # rows that may have been committed

    def attempt(self, book: Book) -> None:
        """Charge inside a transaction; nothing counts before it is committed."""
        self.error = None
        known = book.entry(self.posting.event.key)
        if known is not None and known.hash in self.attempts:
            self.is_new = True  # the transaction whose end was not seen
            return
        try:
            self.is_new = charge_posting(book, self.posting)
        except PacsklearnError as error:
            self.error = error
        else:
            if self.is_new:
                self.attempts.add(book.position.hash)

    def outcome(self) -> bool:
        if self.error is not None:
            raise self.error
        return self.is_new


@final
@dataclass(frozen=True)
class SQLStore(Store):
    """Handle to a ledger in a database; only texts and numbers, so it can be pickled.

    Parameters
    ----------
    address : str
        URL of the database, with its password if it has one.
    founding : Founding
    """

    address: str = field(repr=False)
    founding: Founding

    @property
    def terms(self) -> Terms:
        return self.founding.terms

    @contextmanager
    def opened(self, *, write: bool, keys: list[str] | None = None) -> Iterator[Book]:
        from pacsklearn.accounting.book import Book
        from pacsklearn.accounting.chain import Chain
        from pacsklearn.accounting.database import LOCK, transaction

        book: Book | None = None
        with LOCK:
            chain = _CHAINS.pop(self, None) or Chain(self.founding)
            # Whatever ends the block otherwise leaves a chain that may be ahead of the database.
            with transaction(self.address, write=write) as connection:
                try:
                    book = Book(
                        connection,
                        self.founding,
                        chain,
                        write=write,
                        where=without_password(self.address),
                        keys=keys,
                    )
                    yield book
                except BaseException:
                    if book is not None and not book.is_dirty:
                        _remember(self, chain)
                    raise
                book.flush()
            _remember(self, chain)

    def charge(self, posting: Posting) -> bool:
        charge, queue = _Charge(posting), _queue_of(self)
        while not charge.done:
            together = queue.join(charge)
            if together:
                try:
                    self._charge(together)
                finally:
                    # Where this caller was interrupted, the others try again by themselves.
                    queue.leave([each for each in together if not each.done and each is not charge])
        return charge.outcome()

    def verified(self) -> Position | None:
        """Last row that this process has verified or written, without asking the database."""
        chain = _CHAINS.get(self)
        return None if chain is None else chain.position

    def forget(self) -> None:
        """Verify everything again the next time."""
        from pacsklearn.accounting.database import LOCK

        with LOCK:
            _CHAINS.pop(self, None)

    def _charge(self, together: list[_Charge]) -> None:
        """One transaction for everybody who waits: one synchronisation of the disk."""
        from pacsklearn.accounting import database

        deadline = time.monotonic() + database.PATIENCE
        try:
            while True:
                try:
                    keys = list({each.posting.event.key for each in together})
                    with self.opened(write=True, keys=keys) as book:
                        for each in together:
                            each.attempt(book)
                    break
                except database.UnreachableError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)
        except PacsklearnError as error:
            for each in together:
                each.error = type(error)(*error.args)
        for each in together:
            each.done = True


@final
class _Queue:
    """Callers of one process who wait for one ledger; one of them at a time charges for all."""

    def __init__(self) -> None:
        lock = threading.Lock()
        self._freed, self._joined = threading.Condition(lock), threading.Condition(lock)
        self._waiting: list[_Charge] = []
        self._is_led = False
        self._together, self._began, self._seconds = 1, 0.0, 0.0

    def join(self, charge: _Charge) -> list[_Charge]:
        """Wait until somebody has charged for this caller, or until it leads: then for whom."""
        leads = False
        with self._freed:
            if charge not in self._waiting:
                self._waiting.append(charge)
            self._joined.notify()
            try:
                while self._is_led and not charge.done:
                    if not self._freed.wait(_LOST_LEADER) and _nobody_charges():
                        break
                if charge.done:
                    return []
                leads = self._is_led = True
                self._gather()
            except BaseException:
                if leads:
                    self._is_led = False
                if charge in self._waiting:
                    self._waiting.remove(charge)
                self._freed.notify_all()
                raise
            together = self._waiting[:_MOST_TOGETHER]
            del self._waiting[:_MOST_TOGETHER]
            self._together, self._began = len(together), time.monotonic()
            return together

    def leave(self, unfinished: list[_Charge]) -> None:
        """Let the next one lead."""
        with self._freed:
            self._waiting[:0] = unfinished
            self._seconds = time.monotonic() - self._began
            self._is_led = False
            self._freed.notify_all()

    def _gather(self) -> None:
        # Those who shared the last transaction are on their way back; a part of its time is worth
        # waiting for them, and one who is alone waits for nobody.
        if self._together > 1:
            self._joined.wait_for(
                lambda: len(self._waiting) >= self._together, timeout=self._seconds / 3
            )


def _nobody_charges() -> bool:
    """Whether a leader was interrupted on its way; two leaders would only be slower."""
    from pacsklearn.accounting.database import LOCK

    if not LOCK.acquire(blocking=False):
        return False
    LOCK.release()
    return True


def _queue_of(store: SQLStore) -> _Queue:
    with _MUTEX:
        return _QUEUES.setdefault(store, _Queue())


def _start_anew() -> None:
    # Those who waited wait in the parent process; here they would be charged a second time.
    global _MUTEX  # noqa: PLW0603 - it may have been held when the process was forked
    _MUTEX = threading.Lock()
    _QUEUES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def _remember(store: SQLStore, chain: Chain) -> None:
    _CHAINS[store] = chain
    if len(_CHAINS) > _MOST_CHAINS:
        del _CHAINS[next(iter(_CHAINS))]
