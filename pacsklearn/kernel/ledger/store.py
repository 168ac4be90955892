"""A ledger in a database: questions and changes, on a fold of the rows that were verified."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar, final

from pacsklearn.exceptions import (
    LedgerCorruptedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnknownError,
    PacsklearnError,
)
from pacsklearn.kernel.ledger.accounts import Accounts, LedgerTerms, Posting
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.book import Book, Store
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.high_water import HighWater, StaleError
from pacsklearn.kernel.ledger.log import DoubtError, Log, MovedError, UnreachableError, waits
from pacsklearn.kernel.ledger.row import Founding, Row, posting_of, stored_event
from pacsklearn.kernel.ledger.writer import perform

_MOST_FOLDS: Final = 64
_DOUBT: Final = 5.0
"""Seconds in which a file is asked what became of a commit."""

T = TypeVar("T")

# What this process has verified; taken out by whoever works with it, in the database's thread.
_FOLDS: dict[LogStore, Fold] = {}
# Hashes of rows that may have been committed, when nobody could be asked; and where it is so still.
_DOUBTS: dict[LogStore, set[str]] = {}
_UNSETTLED: set[LogStore] = set()
_MUTEX = threading.Lock()  # only databases' threads take it, and a fork waits for those


@final
@dataclass(frozen=True, repr=False)
class LogStore(Store):
    """Handle to a ledger in a database; only texts and numbers, so it can be pickled.

    Parameters
    ----------
    address : str
        URL of the database, with its password if it has one.
    founding : Founding
    """

    address: str
    founding: Founding

    def __repr__(self) -> str:
        return f"{without_password(self.address)!r}, dataset={self.founding.dataset!r}"

    @property
    def terms(self) -> LedgerTerms:
        return self.founding.terms

    def read(self, question: Callable[[LogBook], T]) -> T:
        result: T = perform(self.address, self._attempt, question)
        return result

    def write(self, change: Callable[[LogBook], T]) -> T:
        result: T = perform(self.address, self._changed, change, self)
        return result

    @property
    def head(self) -> str:
        # What this process has verified or written last, without asking the database.
        fold = _FOLDS.get(self)
        place = self.read(lambda book: book.fold.position) if fold is None else fold.position
        return f"{self.founding.dataset} {place}"

    def fold(self, log: Log) -> Fold:
        """Return all rows, verified from the last checkpoint on, or from the last row known."""
        log.check_version()
        # Taken out: whatever ends the work halfway, the next one starts from the database.
        fold, dataset = _FOLDS.pop(self, None), self.founding.dataset
        if fold is None:
            # No lock is held while rows are verified: others charge in the meantime.
            fold = loaded(log, dataset)
            self._check(fold, log)
        # The last row known is read again: its hash stands for all before it.
        rows = log.read(dataset, fold.last.number - 1)
        last = next(rows, None)
        if last is None or last.number != fold.last.number:
            self._check(loaded(log, dataset), log)  # perhaps it was founded anew
            raise LedgerCorruptedError(fold.last.number, "is missing")
        if last != fold.last:
            self._check(loaded(log, dataset), log)
            raise LedgerCorruptedError(last.number, "does not have the content it was written with")
        for row in rows:
            fold.add(row)
        return fold

    def renew(self, log: Log, verified: Callable[[Log], Fold]) -> Fold:
        """Take what ``verified`` returns in the place of what this process knew of the ledger.

        Raises
        ------
        LedgerError
            Where it is another ledger's, or ends before what its file states.
        """
        # Nothing that was verified before counts: a row may have been changed since.
        _FOLDS.pop(self, None)
        fold = verified(log)
        self._check(fold, log)
        _remember(self, fold)
        return fold

    def _check(self, fold: Fold, log: Log) -> None:
        if fold.founding != self.founding:
            raise LedgerMismatchError(
                f"The database at {without_password(self.address)} does not hold this ledger any "
                "more: it is another one, or it was founded anew."
            )
        if self.founding.high_water:
            HighWater(self.founding).check(log)

    def _changed(self, log: Log, works: Sequence[Any]) -> list[Any]:
        """Return the results or errors of changes that share a commit."""
        for _ in waits():
            try:
                return self._attempt(log, works)
            # Nothing was written. Rows of others are added to the fold, and ceilings asked again.
            except (MovedError, UnreachableError) as error:
                failed = error
        raise failed

    def _attempt(self, log: Log, works: Sequence[Any]) -> list[Any]:
        # What became of an unknown commit comes before anything else: sums without its rows would
        # be too small, and its key would be taken for a new one.
        if self in _UNSETTLED:
            log.settle(self.founding.dataset)
            _UNSETTLED.discard(self)
        # All that is decided is decided on these rows; the append refuses any other head.
        fold = self.fold(log)
        before, book = fold.last, LogBook(log, fold, _DOUBTS.get(self, set()))
        results = _results(book, works)
        try:
            if book.rows:
                self._append(log, before, book.rows)
        except LedgerUnknownError:
            raise  # all is read anew, with what the high-water file says
        except BaseException:
            # Sums are exact, so what is taken back leaves nothing; the rows need no second reading.
            if len(book.postings) == len(book.rows) and fold.undo(before, reversed(book.postings)):
                _remember(self, fold)
            raise
        _remember(self, fold)
        return results

    def _append(self, log: Log, before: Row, rows: list[Row]) -> None:
        """Append rows; an error says that they are not there, or that it is not known."""
        is_stated = False

        def state() -> None:
            nonlocal is_stated
            HighWater(self.founding).write(before.position, rows)
            is_stated = True

        # Stated when nothing but the commit is left, and before it: a crash in between leaves rows
        # in the file that are charged later, never committed rows that the file does not know.
        sink = state if self.founding.high_water else None
        try:
            log.append(self.founding.dataset, before.position, rows, sink)
        except StaleError:  # of a writer that died, or of one that charges another copy
            HighWater(self.founding).check(log)
            raise MovedError from None
        except LedgerError as error:
            cause = error.error if isinstance(error, DoubtError) else error
            if cause is error and not is_stated:
                raise
            if not self._is_there(log, before, rows, cause):
                raise cause from None

    def _is_there(self, log: Log, before: Row, rows: list[Row], cause: LedgerError) -> bool:
        """Return whether rows were committed whose commit was not seen to end."""
        last = rows[-1]._replace(answers=())
        for _ in waits(None if isinstance(cause, UnreachableError) else _DOUBT):
            with suppress(LedgerError):
                log.settle(self.founding.dataset)
                # The row's nonce makes it another one than any that says the same.
                if log.row(self.founding.dataset, last.number) == last:
                    return True
                # Stated, but not committed: until the file says so, whoever opens the ledger
                # charges them. What cannot be taken back now is charged then: never less.
                if self.founding.high_water:
                    take_back = partial(HighWater(self.founding).write, before.position, ())
                    log.append(self.founding.dataset, before.position, (), take_back)
                return False
        _DOUBTS.setdefault(self, set()).update(row.hash for row in rows)
        _UNSETTLED.add(self)
        raise LedgerUnknownError(
            f"{cause} Whether anything was charged is not known: nothing may be released. The next "
            "use of the ledger finds out."
        ) from None


@final
class LogBook(Book):
    """A data set whose rows were verified up to the last one, in the database's thread.

    Parameters
    ----------
    log : Log
    fold : Fold
        Brought up to date.
    doubts : set of str
        Hashes of rows whose commit nobody was told of: whoever charges them anew is told.
    """

    def __init__(self, log: Log, fold: Fold, doubts: set[str]) -> None:
        self.log, self.fold = log, fold
        self.rows: list[Row] = []
        self.postings: list[Posting] = []
        self._doubts = doubts
        self._time = ""

    @property
    def accounts(self) -> Accounts:
        return self.fold.accounts

    @property
    def time(self) -> str:
        self._time = self._time or self.log.time()
        return self._time

    def find(self, key: str) -> Posting | None:
        for posting in self.postings:
            if posting.event.key == key:
                return posting
        row = self.log.find(self.fold.founding.dataset, key)
        return None if row is None else posting_of(row.facts())

    def charge(self, posting: Posting) -> bool:
        """Charge; whether it is new, or was charged when nobody could be told."""
        # By the row's hash, which holds its nonce: the same event of another caller is theirs.
        row = self._doubts and self.log.find(self.fold.founding.dataset, posting.event.key)
        if row and row.hash in self._doubts and posting_of(row.facts()) == posting:
            self._doubts.discard(row.hash)
            return True
        return super().charge(posting)

    def append(self, posting: Posting) -> None:
        self.rows.append(self.fold.post(posting, self.time))
        self.postings.append(posting)

    def store(self, stored: dict[str, Any], answers: tuple[Any, ...]) -> None:
        """Append answers, and the belief after them."""
        self.rows.append(self.fold.store(stored, answers, self.time))

    def events(self, account: str) -> Iterator[Event]:
        return (event for _, event in self.charges(account))

    def charges(self, account: str, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield the events of one account in the rows after one, and the numbers of their rows."""
        for row in self.log.read(self.fold.founding.dataset, after):
            if row.number > self.fold.last.number:
                return
            if '"event":' in row.line:
                facts = row.facts()
                if "event" in facts and facts["account"] == account:
                    yield row.number, stored_event(facts)


def _results(book: LogBook, works: Sequence[Callable[[LogBook], Any]]) -> list[Any]:
    """Return the result of each change, or the error that refuses it."""
    results: list[Any] = []
    for work in works:
        try:
            results.append(work(book))
        except UnreachableError:
            raise  # of all who share the commit; the fold is read anew
        except PacsklearnError as error:
            results.append(error)
    return results


def loaded(log: Log, dataset: str) -> Fold:
    """Return the rows of a data set, verified from the last checkpoint on.

    Raises
    ------
    LedgerError
        When there is no such ledger.
    """
    founding, last = log.founding(dataset), log.head(dataset)
    if last is None:  # of a damaged index, which found the founding
        raise LedgerCorruptedError(0, "(the founding) is missing")
    number = last.facts().get("checkpoint", 0)
    fold = Fold(founding, log.row(dataset, number) if number else None)
    for row in log.read(dataset, number):
        fold.add(row)
    return fold


def _remember(store: LogStore, fold: Fold) -> None:
    with _MUTEX:
        _FOLDS[store] = fold
        if len(_FOLDS) > _MOST_FOLDS:
            del _FOLDS[next(iter(_FOLDS))]


def forget() -> None:
    """Forget what this process has verified, as a new process would."""
    with _MUTEX:
        _FOLDS.clear()
