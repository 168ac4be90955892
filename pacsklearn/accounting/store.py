"""A ledger in a database: questions, changes and charges, each in a transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, final

from pacsklearn.accounting.entry import Founding, Position
from pacsklearn.accounting.writer import Job
from pacsklearn.core.accounts import Posting, Terms
from pacsklearn.core.ledger import charge_posting
from pacsklearn.core.ledger_interface import Store
from pacsklearn.exceptions import PacsklearnError

if TYPE_CHECKING:  # SQLAlchemy is loaded when a ledger is opened
    from pacsklearn.accounting.book import Book
    from pacsklearn.accounting.chain import Chain

_MOST_CHAINS: Final = 64

T = TypeVar("T")

# What this process has verified, by database and founding; taken out by whoever works with it.
_CHAINS: dict[SQLStore, Chain] = {}
_MUTEX = threading.Lock()  # only databases' threads take it, and a fork waits for those


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

    def read(self, question: Callable[[Book], T]) -> T:
        return self._performed(question, write=False)

    def write(self, change: Callable[[Book], T]) -> T:
        return self._performed(change, write=True)

    def charge(self, posting: Posting) -> bool:
        from pacsklearn.accounting.database import perform

        is_new: bool = perform(self.address, _Charge(self, posting))
        return is_new

    def read_anew(self, question: Callable[[Book], T]) -> T:
        """As :meth:`read`, after everything was verified again."""
        return self._performed(question, write=False, anew=True)

    def _performed(self, work: Callable[[Book], T], *, write: bool, anew: bool = False) -> T:
        from pacsklearn.accounting.database import perform

        job = Job(lambda: self.inside(work, write=write, anew=anew))
        result: T = perform(self.address, job)
        return result

    def inside(
        self,
        work: Callable[[Book], T],
        *,
        write: bool,
        keys: list[str] | None = None,
        anew: bool = False,
    ) -> T:
        """Do something with the book, in the database's thread."""
        from pacsklearn.accounting.book import Book
        from pacsklearn.accounting.chain import Chain
        from pacsklearn.accounting.database import transaction

        book: Book | None = None
        known = _CHAINS.pop(self, None)
        chain = Chain(self.founding) if known is None or anew else known
        # Whatever ends the block otherwise leaves a chain that may be ahead of the database.
        with transaction(self.address, write=write, lazily=keys is not None) as connection:
            try:
                book = Book(
                    connection,
                    self.founding,
                    chain,
                    write=write,
                    where=self.address,
                    keys=keys,
                )
                result = work(book)
            except BaseException:
                if book is not None and not book.is_dirty:
                    _remember(self, chain)
                raise
            book.flush()
        _remember(self, chain)
        return result

    def verified(self) -> Position | None:
        """Last row that this process has verified or written, without asking the database."""
        chain = _CHAINS.get(self)
        return None if chain is None else chain.position


@final
class _Charge(Job):
    """A charge: those who wait at the same time share a transaction, one sync of the disk."""

    def __init__(self, store: SQLStore, posting: Posting) -> None:
        super().__init__(list)  # its work is that of the batch
        self.batch = self._store = store
        self._posting = posting
        self._attempts: set[str] = set()  # rows that may have been committed

    def do(self, jobs: Sequence[_Charge]) -> list[bool | BaseException]:
        try:
            return self._charged_together(jobs)
        except PacsklearnError as error:
            return [type(error)(*error.args) for _ in jobs]  # each caller raises its own

    def _charged_together(self, jobs: Sequence[_Charge]) -> list[bool | BaseException]:
        from pacsklearn.accounting import database

        deadline = time.monotonic() + database.PATIENCE
        keys = list({job._posting.event.key for job in jobs})
        while True:
            try:
                return self._store.inside(
                    lambda book: [job._attempt(book) for job in jobs], write=True, keys=keys
                )
            except database.UnreachableError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _attempt(self, book: Book) -> bool | BaseException:
        """Charge inside a transaction; nothing counts before it is committed."""
        if self._attempts:  # of a transaction whose end was not seen
            known = book.entry(self._posting.event.key)
            if known is not None and known.hash in self._attempts:
                return True
        try:
            is_new = charge_posting(book, self._posting)
        except PacsklearnError as error:
            return error
        if is_new:
            self._attempts.add(book.position.hash)
        return is_new


def _remember(store: SQLStore, chain: Chain) -> None:
    with _MUTEX:
        _CHAINS[store] = chain
        if len(_CHAINS) > _MOST_CHAINS:
            del _CHAINS[next(iter(_CHAINS))]
