"""A ledger in a database: transactions of one caller, or of all that wait at the same time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

# What this process has verified, by database and founding; used under the databases' lock only.
_CHAINS: dict[SQLStore, Chain] = {}
_WAITING: dict[SQLStore, list[_Charge]] = {}
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
    def opened(self, *, write: bool) -> Iterator[Book]:
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
                    )
                    yield book
                except BaseException:
                    if book is not None and not book.is_dirty:
                        _remember(self, chain)
                    raise
                book.flush()
            _remember(self, chain)

    def charge(self, posting: Posting) -> bool:
        from pacsklearn.accounting.database import LOCK

        charge = _Charge(posting)
        with _MUTEX:
            waiting = _WAITING.setdefault(self, [])
            waiting.append(charge)
        try:
            while not charge.done:
                with LOCK:
                    if charge.done:
                        break
                    with _MUTEX:
                        together = waiting[:_MOST_TOGETHER]
                        del waiting[:_MOST_TOGETHER]
                    self._charge(together, waiting)
        finally:
            if not charge.done:
                with _MUTEX, suppress(ValueError):
                    waiting.remove(charge)
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

    def _charge(self, together: list[_Charge], waiting: list[_Charge]) -> None:
        """One transaction for everybody who waits: one synchronisation of the disk."""
        from pacsklearn.accounting import database

        deadline = time.monotonic() + database.PATIENCE
        try:
            while True:
                try:
                    with self.opened(write=True) as book:
                        book.look_up(each.posting.event.key for each in together)
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
        except BaseException:
            # This caller was interrupted; the others try again by themselves.
            with _MUTEX:
                waiting[:0] = together
            raise
        for each in together:
            each.done = True


def _start_anew() -> None:
    # Those who waited wait in the parent process; here they would be charged a second time.
    global _MUTEX  # noqa: PLW0603 - it may have been held when the process was forked
    _MUTEX = threading.Lock()
    _WAITING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def _remember(store: SQLStore, chain: Chain) -> None:
    _CHAINS[store] = chain
    if len(_CHAINS) > _MOST_CHAINS:
        del _CHAINS[next(iter(_CHAINS))]
