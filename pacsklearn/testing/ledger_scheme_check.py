"""The contract of a ledger scheme: a log in a kind of database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.accounts import LedgerTerms, Posting
from pacsklearn.kernel.ledger.address import log_class
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.event import Bookkeeping
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.log import Log, MovedError
from pacsklearn.kernel.ledger.row import Row, founding_row
from pacsklearn.testing.ledger_check import check_ledger
from pacsklearn.testing.rule import Rule
from pacsklearn.upkeep.log_contents import answers_named, answers_of, datasets_of

_NAME: Final = "ward 7 \u00e4\U0001d11e '\"%?"
_STORED: Final = {"session": "s", "responder": "r", "event": 1, "belief": None, "seal": None}


def check_ledger_scheme(scheme: type[Log], make_address: Callable[[], str]) -> None:
    """Check a kind of database against what ledgers in it rely on.

    Parameters
    ----------
    scheme : class
        Subclass of :class:`pacsklearn.plugins.Log`, registered under its name.
    make_address : callable
        Address of a new, empty database, as a user writes it.

    Raises
    ------
    AssertionError
        Naming the rule that is broken and what to do.

    Notes
    -----
    1. *Address*: a database has one own address, and what is none is refused without its password.
    2. *Append*: rows are written after the head that is expected, or nothing is.
    3. *Content*: rows and answers are read back as they were written, in order, by every way.
    4. *Durable*: what was appended is there for another connection, when the first one is closed;
       what failed before its commit is not.
    5. *Append-only*: rows and answers are neither changed nor deleted, and the tables are checked.
    6. *Snapshot*: inside one, rows of others do not appear.
    7. *Clock*: times are in UTC, and sort.
    8. *Registered*: an address finds the class, and ledgers in it keep the contract of
       :func:`check_ledger`.

    Examples
    --------
    >>> import tempfile
    >>> from pacsklearn.testing import check_ledger_scheme
    >>> from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
    >>> check_ledger_scheme(SQLiteLog, lambda: f"sqlite:///{tempfile.mkdtemp()}/clinic.db")
    """
    _check_address(scheme, make_address())
    address = scheme.own_address(make_address())
    with closing(scheme(address)) as log, closing(scheme(address)) as other:
        log.create(Log.migrate)
        fold = Fold(founding_row(_NAME, LedgerTerms(4.0, "nats"), "", log.time()))
        log.append(_NAME, None, [fold.last])
        _check_append(log, other, fold)
        _check_content(log, other, fold)
        _check_durable(log, other, fold)
        _check_append_only(log, other)
        _check_snapshot(log, other, fold)
        _check_clock(log)
    _check_registered(scheme, make_address)


def _posted(fold: Fold, note: str = "", count: int = 1) -> list[Row]:
    return [
        fold.post(Posting("", Bookkeeping("checked", 2.0**-20, "nats", key=key), note), "t")
        for key in (f"key {fold.last.number + 1} {_NAME}" for _ in range(count))
    ]


def _check_address(scheme: type[Log], uri: str) -> None:
    rule = Rule("address")
    own = scheme.own_address(uri)
    rule.require(
        scheme.own_address(own) == own and own.startswith(f"{scheme.name}:"),
        f"The own address of {uri!r} is {own!r}, and that one's is {scheme.own_address(own)!r}.",
        "give one address that begins with the scheme's name, and the same for itself.",
    )
    error = rule.refused(
        LedgerError,
        "An address of something else",
        lambda: scheme.own_address("other://owner:se-cret@host/database"),
    )
    rule.require(
        "se-cret" not in str(error),
        "Its error prints a password.",
        "print addresses by pacsklearn.kernel.ledger.address.without_password.",
    )


def _check_append(log: Log, other: Log, fold: Fold) -> None:
    rule = Rule("append")
    founding = fold.last
    again = founding_row(_NAME, LedgerTerms(9.0, "nats"), "", "t")
    rule.refused(MovedError, "A second founding", lambda: log.append(_NAME, None, [again]))
    late = _posted(Fold(founding))
    log.append(_NAME, founding.position, _posted(fold))
    rule.refused(
        MovedError,
        "A row after a head that another connection has moved",
        lambda: other.append(_NAME, founding.position, late),
    )
    rule.require(
        [row.line for row in log.read(_NAME, -1)] == [founding.line, fold.last.line],
        "A row that was refused was written, or one that was not is missing.",
        "compare and append in one transaction that locks the data set.",
    )


def _check_content(log: Log, other: Log, fold: Fold) -> None:
    rule = Rule("content")
    before = fold.position
    answers = tuple((f"r{i}", bytes([i, 0, 255]), b"", b"\0", b"\xff" * 16) for i in range(3))
    rows = [*_posted(fold, "n" * 50_000, 3), fold.store(_STORED, answers, "t")]
    log.append(_NAME, before, rows)
    plain = [row._replace(answers=()) for row in rows]
    first = before.sequence
    keys = [str(row.key) for row in plain[:2]]
    ways = {
        "head": other.head(_NAME) == plain[-1],
        "row": [other.row(_NAME, row.number) for row in plain] == plain,
        "read": [*other.read(_NAME, first)] == plain,
        "find": [other.find(_NAME, key) for key in keys] == plain[:2],
        "datasets": datasets_of(other) == [_NAME],
        "answers": [*answers_of(other, _NAME)] == [(plain[-1].number, each) for each in answers],
        "stored": [bytes(x[1]) for x in answers_named(other, _NAME, "r1", [bytes([1, 0, 255])])]
        == [bytes([1, 0, 255])],
    }
    with other.snapshot():
        ways["table"] = [*other.table(_NAME)][first + 1 :] == plain
    for way, is_right in ways.items():
        rule.require(
            is_right, f"{way} does not give what was written.", "keep texts and bytes as they are."
        )


def _check_durable(log: Log, other: Log, fold: Fold) -> None:
    rule = Rule("durable")
    before, seen = fold.last, []

    def fail() -> None:
        seen.append(other.head(_NAME))
        raise LedgerError("a disk is full")

    rows = _posted(fold)
    with suppress(LedgerError):
        log.append(_NAME, before.position, rows, fail)
    rule.require(
        seen == [before] and other.head(_NAME) == before,
        "Rows were seen by others before their commit, or stayed when it was called off.",
        "call before_commit once, inside the transaction, and roll back what it refuses.",
    )
    log.append(_NAME, before.position, rows)
    log.close()
    other.close()
    rule.require(
        other.head(_NAME) == rows[-1],
        "A row is gone that append had returned from.",
        "return when the commit is on disk.",
    )


def _check_append_only(log: Log, other: Log) -> None:
    rule = Rule("append-only")
    for statement in (
        "UPDATE log SET line = 'x'",
        "DELETE FROM log",
        "UPDATE answers SET value = margin",
        "DELETE FROM answers",
    ):
        rule.refused(LedgerError, f"The statement {statement!r}", lambda: log.ask(statement))  # noqa: B023
    finding = "check refuses a database that is sound"
    with rule.completes(finding, "compare with the scripts."), other.snapshot():
        other.check()
    with TemporaryDirectory() as folder, other.snapshot():
        vars(other)["scripts"] = Path(folder)  # in which none makes what is in the database
        rule.refused(LedgerError, "A table or a trigger that no script makes", other.check)
        del vars(other)["scripts"]


def _check_snapshot(log: Log, other: Log, fold: Fold) -> None:
    rule = Rule("snapshot")
    before = fold.last
    with other.snapshot():
        first = other.head(_NAME)
        log.append(_NAME, before.position, _posted(fold))
        rule.require(
            first == before and other.head(_NAME) == before,
            "A row of another connection appears inside a snapshot.",
            "read in one transaction that sees one moment.",
        )
    rule.require(
        other.head(_NAME) == fold.last,
        "A row of another connection is not seen after a snapshot.",
        "end the snapshot's transaction.",
    )


def _check_clock(log: Log) -> None:
    rule = Rule("clock")
    first, second, own = log.time(), log.time(), time_text()
    rule.require(
        first <= second and len(first) == len(own) and time_text(-1e5) < first < time_text(1e5),
        f"The times {first!r} and {second!r} do not sort, or are not of today.",
        "write times as pacsklearn.kernel.ledger.book.time_text does.",
    )


def _check_registered(scheme: type[Log], make_address: Callable[[], str]) -> None:
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

    kind = log_class(make_address())
    Rule("registered").require(
        kind is scheme,
        f"The address of a new database finds {kind.__qualname__}.",
        "yield the class from the hook pacsklearn_ledger_schemes, under its own name.",
    )

    def make(ceiling: float, **terms: float) -> Ledger:
        return SharedLedger.found(make_address(), ceiling, **terms)  # type: ignore[arg-type]

    check_ledger(make, requests=8)
