"""Ledgers in databases, for their owner: verified anew, summed up, brought to this version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pacsklearn.exceptions import LedgerCorruptedError
from pacsklearn.kernel.ledger.exact_sum import largest_refund, nearest
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.log import Log
from pacsklearn.kernel.ledger.row import Position, Row, answers_digest
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.store import LogBook
from pacsklearn.kernel.ledger.writer import run
from pacsklearn.upkeep.log_contents import answers_of


def verify_ledger(ledger: SharedLedger) -> Position:
    """Verify the whole data set: hashes, sums, ceilings, stored answers, tables and triggers.

    The table is read, and through no index; the database checks itself as well
    (``integrity_check`` of SQLite, ``amcheck`` where PostgreSQL has it).

    Returns
    -------
    Position
        Of the last row.

    Raises
    ------
    LedgerCorruptedError
        Naming the first row that is wrong; 0 for the founding, or the database itself.
    """
    return _verified(ledger, None)[0]


def is_ahead_of(ledger: SharedLedger, position: Position) -> bool:
    """Return whether the database still holds everything written up to ``position``.

    Everything is verified anew. False means that it is an older copy, another ledger, or one
    that was rewritten.
    """
    try:
        row = _verified(ledger, position)[1]
    except LedgerCorruptedError:
        return False
    return row is not None and row.position == position


def _verified(ledger: SharedLedger, position: Position | None) -> tuple[Position, Row | None]:
    """Return the position of the last row, and the row that a position names."""
    dataset, row = ledger.dataset, None

    def anew(log: Log) -> Fold:
        nonlocal row
        with log.snapshot():
            # The database first: from damaged pages any rows may be read.
            log.check()
            fold = verified(log.table(dataset), answers_of(log, dataset))
            row = None if position is None else log.row(dataset, position.sequence)
        return fold

    def renewed(log: Log) -> Fold:
        fold = ledger.store.renew(log, anew)
        head = log.head(dataset)
        if head is None or head.position == fold.position:
            return fold
        # The last commit was in the high-water file alone, and is in the database now.
        return ledger.store.renew(log, anew)

    fold: Fold = run(ledger.store.address, renewed)
    return fold.position, row


def verified(rows: Iterable[Row], answers: Iterable[tuple[int, tuple[Any, ...]]]) -> Fold:
    """Recompute every hash, sum and ceiling, and the digests of the answers stored beside.

    Parameters
    ----------
    rows : iterable of Row
        All rows of the data set, from the founding on.
    answers : iterable of (int, tuple)
        All stored answers with the number of their row, by that number.

    Raises
    ------
    LedgerCorruptedError
        With the number of the first row that is wrong.
    """
    fold: Fold | None = None
    # From row 0, and from no checkpoint: whoever can write a row can write its sums.
    for row in joined(rows, answers):
        if fold is None:
            fold = Fold(row)
        else:
            fold.add(row)
        check_answers(row)
    if fold is None:
        raise LedgerCorruptedError(0, "(the founding) is missing")
    return fold


def joined(rows: Iterable[Row], answers: Iterable[tuple[int, tuple[Any, ...]]]) -> Iterator[Row]:
    """Yield the rows with the stored answers that have their numbers, both in this order.

    Raises
    ------
    LedgerCorruptedError
        When there are some of a row that does not exist.
    """
    waiting = iter(answers)
    following = next(waiting, None)
    for row in rows:
        own = []
        while following is not None and following[0] <= row.number:
            if following[0] != row.number:
                raise LedgerCorruptedError(row.number, "has stored answers before it of no row")
            own.append(following[1])
            following = next(waiting, None)
        yield row._replace(answers=tuple(own)) if own else row
    if following is not None:
        raise LedgerCorruptedError(following[0], "is missing, and has stored answers")


def check_answers(row: Row) -> None:
    """Refuse a row whose answers are not those it was written with.

    Raises
    ------
    LedgerCorruptedError
    """
    if row.answers or row.key is None:  # only rows of answers have none
        stored = row.facts().get("stored", {"digest": answers_digest(())})
        if answers_digest(row.answers) != stored["digest"]:
            raise LedgerCorruptedError(row.number, "has lost stored answers, or altered ones")


def upgrade(address: str) -> int:
    """Bring a database of ledgers to this version's tables; as its owner.

    Returns
    -------
    int
        Version of the tables it had.

    Raises
    ------
    LedgerError
        When there is no ledger in it.
    """

    def migrate(log: Log) -> int:
        if log.version() == 0:
            log.check_version()  # says that there is none
        return log.migrate()

    before: int = run(address, migrate)
    return before


def ledger_summary(ledger: SharedLedger) -> dict[str, Any]:
    """Return the ceiling, sums, open reservations, position and all events, as of one moment."""

    def look(book: LogBook) -> dict[str, Any]:
        accounts = book.accounts
        limits = accounts.limits("", ledger.user, ledger.project)
        return {
            "address": ledger.uri,
            "dataset": ledger.dataset,
            "unit": ledger.unit,
            "ceiling": ledger.ceiling,
            "spent": nearest(accounts.total("")),
            "remaining": min(largest_refund(each.ceiling, each.total) for each in limits),
            "position": str(book.fold.position),
            "reservations": [
                {
                    "note": accounts.made(key).note,
                    "spent": nearest(accounts.total(key)),
                    "remaining": largest_refund(accounts.ceiling(key), accounts.total(key)),
                }
                for key in accounts.open_reservations("")
            ],
            "events": [event.to_dict() for event in book.events("")],
        }

    return ledger.store.read(look)
