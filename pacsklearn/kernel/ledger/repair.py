"""A damaged ledger, written anew without the rows that are wrong; what they charged is kept."""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger.accounts import (
    Posting,
    bookkeeping_event,
    exact,
    exact_of,
    fits,
    largest_refund,
    nearest,
)
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.event import ledger_text
from pacsklearn.kernel.ledger.fold import Beside, Fold
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.ledger.log import Log, without_password
from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn.kernel.ledger.row import Row
from pacsklearn.kernel.ledger.sqlite_file import address_of, check_free
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.kernel.ledger.writer import run

_LONGEST_WORDS: Final = 500
_LINE: Final = re.compile(rb'\{"dataset":"[^\0]{1,2000000}?,"hash":"[0-9a-f]{64}"\}')
_SUMS: Final = re.compile(r'"sums":(\{[^{}]*\})')
_ACCOUNT: Final = re.compile(r'"account":("(?:[^"\\]|\\.)*")')


def repair(source: Path | str, target: Path, *, signed_by: str, reason: str) -> dict[str, Any]:
    """Copy a database up to its first wrong row, and charge what the rows after it charged.

    The damaged database is read row by row (of a file also what its pages still hold), and never
    changed. What cannot be kept is written as it stands to ``<target>.aside.json``, and the copy
    ends in rows of the kind ``"repair"`` that name who signed for it and the digest of that file.
    They bring each sum to the highest one that any row states, so that rows which are missing are
    counted as well; to all that is left where the last rows state none. Refunds among the rows set
    aside are not given back.

    Parameters
    ----------
    source : Path or str
        SQLite file, or address of a PostgreSQL server.
    target : Path
        New file.
    signed_by, reason : str
        Who answers for it, and why; both go into the ledger.

    Returns
    -------
    dict
        For each data set, the rows kept, the rows set aside, what was charged for them and what was
        assumed.

    Raises
    ------
    LedgerError
        When there is nothing to repair, or the target exists.
    LedgerCorruptedError
        When the founding (its ceiling) is lost: no row can be trusted then.
    """
    signed_by = ledger_text("signed_by", signed_by, _LONGEST_WORDS).strip()
    reason = ledger_text("reason", reason, _LONGEST_WORDS).strip()
    if not (signed_by and reason):
        raise LedgerError(
            "A repair is signed: say who answers for it (signed_by) and why (reason)."
        )
    aside = target.with_name(target.name + ".aside.json")
    for file in (target, aside):
        check_free(file)
    name = without_password(str(source))
    # Before SQLite opens the file, which may move its log into it.
    carved = [*_carved(source)] if isinstance(source, Path) else []
    salvaged, is_sound = run(address_of(source), lambda log: _salvaged(log, carved))
    datasets = [_Dataset(*each) for each in salvaged]
    if not datasets:
        raise LedgerCorruptedError(0, "(the founding) is not the one that was written")
    if is_sound and all(dataset.is_sound for dataset in datasets):
        raise LedgerError(f"The ledger at {name} is as it was written: there is nothing to repair.")
    document = {
        "ledger": name,
        "signed_by": signed_by,
        "reason": reason,
        "time": time_text(),
        "rows": [row._asdict() for dataset in datasets for row in dataset.aside],
    }
    text = json.dumps(document, indent=1, default=repr)
    digest = hashlib.sha256(text.encode()).hexdigest()
    report = {}
    with SQLiteLog.new(target) as draft:
        draft.migrate()
        for dataset in datasets:
            note = (
                f"{len(dataset.aside)} rows from row {len(dataset.kept)} on were set aside by "
                f"{signed_by}: {reason}; SHA-256 of {aside.name}: {digest}"
            )
            charged = dataset.charge_again(note)
            draft.append(dataset.name, None, dataset.kept)
            report[dataset.name] = {
                "kept": dataset.n_kept,
                "set_aside": len(dataset.aside),
                "charged": charged,
                "assumed": dataset.assumed,
            }
        # Last of all, and before the copy appears: there is never one without the other.
        with replacement_file(aside) as content:
            content.write(text.encode())
        for dataset in datasets:
            if dataset.fold.founding.high_water:
                HighWater(dataset.fold.founding).create(dataset.fold.position)
    return report


_Rows: TypeAlias = tuple[str, list[Row], list[Row], int | None]


def _salvaged(log: Log, carved: list[Row]) -> tuple[list[_Rows], bool]:
    """Rows of each data set, those with their content and the others, and whether all is sound."""
    is_sound = True
    rows: list[Row] = []
    answers: dict[str, dict[int, list[Any]]] = {}
    names = {row.dataset for row in carved}
    with suppress(LedgerError):
        names |= set(log.datasets())
    try:
        with log.snapshot():
            log.check()
    except LedgerError:
        is_sound = False
    for name in names:
        some, went_well = _read(log, name)
        rows += some
        is_sound &= went_well
        beside = answers.setdefault(name, {})
        with suppress(LedgerError):
            for number, answer in log.answers(name):
                beside.setdefault(number, []).append(answer)
    by_name: dict[str, tuple[dict[int, dict[str, Row]], list[Row]]] = {}
    for row in [*rows, *carved]:
        good, bad = by_name.setdefault(str(row.dataset), ({}, []))
        try:
            row.facts()
            whole = row._replace(answers=tuple(answers.get(row.dataset, {}).get(row.number, ())))
            good.setdefault(row.number, {}).setdefault(row.hash, whole)
        except LedgerCorruptedError:
            bad.append(row)
    datasets = []
    for name, (good, bad) in sorted(by_name.items()):
        if 0 not in good:
            if bad or good:
                raise LedgerCorruptedError(0, "(the founding) is not the one that was written")
            continue
        rows_of = [row for number in sorted(good) for row in good[number].values()]
        datasets.append((name, rows_of, bad, _end(log, name)))
    return datasets, is_sound


def _end(log: Log, name: str) -> int | None:
    """Number of the last row, where the index and the table agree on it; None otherwise."""
    with suppress(LedgerError):
        by_index = log.head(name)
        if isinstance(log, SQLiteLog):
            question = (
                "SELECT number FROM log NOT INDEXED WHERE dataset = ? ORDER BY rowid DESC LIMIT 1"
            )
            numbers = [line[0] for line in log.ask(question, name)]
        else:
            with log.snapshot():
                numbers = [row.number for row in log.table(name)][-1:]
        if by_index is not None and numbers == [by_index.number]:
            return by_index.number
    return None


def _read(log: Log, name: str) -> tuple[list[Row], bool]:
    """All rows that can be read, and whether that went without an error."""
    rows: list[Row] = []
    # One way may be damaged where another one is not.
    for number, way in enumerate((log.table(name), log.read(name, -1), _singly(log, name))):
        try:
            rows.extend(way)
        except LedgerError:
            continue
        return rows, number == 0
    return rows, False


def _singly(log: Log, name: str) -> Iterator[Row]:
    """Row after row, over those that cannot be read."""
    number, missing = 0, 0
    while missing < 1000:
        row = None
        with suppress(LedgerError):
            row = log.row(name, number)
        missing = 0 if row else missing + 1
        number += 1
        if row:
            yield row


def _carved(path: Path) -> Iterator[Row]:
    """Rows that the pages of a file and its log still hold, by their own hashes."""
    for file in (path, path.with_name(path.name + "-wal")):
        if not file.exists():
            continue
        for match in _LINE.finditer(file.read_bytes()):
            # A line that was cut runs on into the next one.
            line = match.group()[match.group().rfind(b'{"dataset":"') :].decode("ascii", "replace")
            with suppress(ValueError, KeyError, TypeError, LedgerCorruptedError):
                facts = json.loads(line)
                row = Row(facts["dataset"], facts["number"], facts["key"], line)
                row.facts()
                yield row


@final
class _Dataset:
    """Rows of one data set: those before the first wrong one, and the others."""

    def __init__(self, name: str, rows: list[Row], bad: list[Row], end: int | None) -> None:
        self.name, self.assumed = name, ""
        self.fold = Fold(rows[0])
        self.kept, self.aside = [rows[0]], []
        followed = {str(row.facts()["previous"]) for row in rows}
        # Of several with one number those that others follow come first: pages also hold rows of
        # transactions that were undone.
        for row in sorted(rows[1:], key=lambda row: (row.number, row.hash not in followed)):
            try:
                if row.number <= self.fold.last.number:
                    continue
                Beside([(row.number, each) for each in row.answers]).check(row)
                self.fold.add(row)
                self.kept.append(row)
            except LedgerCorruptedError:
                self.aside.append(row)
        self.n_sound = len(self.aside)
        self.n_kept = len(self.kept) - 1
        seen: list[Any] = [row.number for row in [*rows, *bad]]
        self._is_cut = end is None or end > max(each for each in seen if isinstance(each, int))
        if self.fold.founding.high_water:
            with suppress(LedgerError):
                before, stated = HighWater(self.fold.founding).read()
                self.aside += [row for row in stated if row.number > self.fold.last.number]
                highest = max(row.number for row in [*rows, *stated])
                self._is_cut = before.sequence > highest
        self.aside += [row for row in bad if not self._is_kept(row)]

    def _is_kept(self, row: Row) -> bool:
        return any(row.line == each.line for each in self.kept)

    @property
    def is_sound(self) -> bool:
        return not self.aside and not self._is_cut

    def charge_again(self, note: str) -> float:
        """Bring each sum to the highest that was stated; returns what the ledger is charged."""
        if self.is_sound:
            return 0.0
        highest, numbers, unstated = self._stated()
        # Sums grow from row to row: one that states none matters where no row after it does.
        takes_all = self._is_cut or max(unstated, default=-1) > max(numbers, default=-2)
        accounts = self.fold.accounts
        owners = [key for key in highest if key[0] in ("user", "project")]
        order = [("account", each) for each in accounts.open_keys()] + owners + [("ledger", "")]
        spent = accounts.total("")
        for kind, name in order:
            account = name if kind == "account" else ""
            now = accounts.sum_of(kind, name)
            missing = max(highest.get((kind, name), 0) - now, 0)
            user, project = (name if kind == each else None for each in ("user", "project"))
            limits = accounts.limits(account, user, project)
            limit = limits[0]
            if kind == "account" and takes_all and (kind, name) in highest:
                missing = max(missing, exact(limit.ceiling) - now)
            if kind == "ledger" and takes_all:
                missing = max(missing, exact(limit.ceiling) - now)
            if missing <= 0 and kind != "ledger":
                continue
            charge = _rounded_up(missing)
            if not all(fits(each.total, charge, each.ceiling) for each in limits):
                charge = min(largest_refund(each.ceiling, each.total) for each in limits)
            event = bookkeeping_event(
                "repair", charge, self.fold.founding.terms.unit, uuid.uuid4().hex
            )
            self.kept.append(
                self.fold.post(Posting(account, event, note, user, project), time_text())
            )
        charged = nearest(accounts.total("") - spent)
        self.assumed = (
            "all that was left: the last rows state no sum"
            if takes_all
            else "the highest sums that any row states"
        )
        return charged

    def _stated(self) -> tuple[dict[tuple[str, str], int], list[int], list[int]]:
        """Highest sum stated for each account and owner, and the rows that state some or none."""
        highest: dict[tuple[str, str], int] = {}
        numbers, unstated = [], []
        for place, row in enumerate(self.aside):
            place_in_log: Any = row.number
            number = place_in_log if isinstance(place_in_log, int) else 2**62
            try:
                line = str(row.line)
                sums = json.loads(_SUMS.findall(line)[-1])
                facts: dict[str, Any] = {"account": "", "user": None, "project": None}
                if place < self.n_sound or _is_sound(row):
                    facts |= json.loads(line)
                else:
                    facts["account"] = json.loads(_ACCOUNT.findall(line)[0])
                for kind, text in sums.items():
                    key = kind, "" if kind == "ledger" else facts[kind]
                    highest[key] = max(highest.get(key, 0), exact_of(text))
                if "ledger" in sums:
                    numbers.append(number)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                unstated.append(number)
        return highest, numbers, unstated


def _is_sound(row: Row) -> bool:
    try:
        row.facts()
    except LedgerCorruptedError:
        return False
    return True


def _rounded_up(total: int) -> float:
    """Smallest double that is not below an exact sum."""
    amount = nearest(total)
    return amount if exact(amount) >= total else math.nextafter(amount, math.inf)
