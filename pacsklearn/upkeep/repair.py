"""A damaged ledger, written anew without the rows that are wrong; what they charged is kept."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.event import Bookkeeping, ledger_text
from pacsklearn.kernel.ledger.exact_sum import exact, exact_of, fits, largest_refund, nearest
from pacsklearn.kernel.ledger.fold import Fold
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.ledger.log import Log
from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn.kernel.ledger.row import Row
from pacsklearn.kernel.ledger.sqlite_file import check_free
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.kernel.ledger.writer import run
from pacsklearn.upkeep.backup import address_of
from pacsklearn.upkeep.log_contents import answers_of, datasets_of
from pacsklearn.upkeep.verification import check_answers

_LONGEST_WORDS: Final = 500
_MOST_MISSING: Final = 1000
"""Rows in a row that cannot be read, after which there are no more."""
_LINE: Final = re.compile(rb'\{"dataset":"[^\0]{1,2000000}?,"hash":"[0-9a-f]{64}"\}')


def repair(source: Path | str, target: Path, *, signed_by: str, reason: str) -> dict[str, Any]:
    """Copy a database up to its first wrong row, and charge what the rows after it charged.

    The damaged database is read row by row (of a file also what its pages still hold), and never
    changed. What cannot be kept is written as it stands to ``<target>.aside.json``, and the copy
    ends in rows of the kind ``"repair"`` that name who signed for it and the digest of that file.
    They bring each sum to the highest one that any row states which is as it was written, so that
    rows which are missing are counted as well; that of the ledger to all that is left where the
    last rows state none. Refunds among the rows set aside are not given back, nor is anything of a
    reservation that is open in the copy: a missing row may have charged it, or closed it.

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
    datasets: list[_Salvage] = run(address_of(source), lambda log: _salvaged(log, carved))
    if not datasets:
        raise LedgerCorruptedError(0, "(the founding) is not the one that was written")
    if all(dataset.is_sound for dataset in datasets):
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
            facts: dict[str, Any] = {"kept": len(dataset.kept) - 1, "set_aside": len(dataset.aside)}
            facts["charged"], facts["assumed"] = dataset.charge_again(note)
            report[dataset.name] = facts
            draft.append(dataset.name, None, dataset.kept)
        # Last of all, and before the copy appears: there is never one without the other.
        with replacement_file(aside) as content:
            content.write(text.encode())
        for dataset in datasets:
            if dataset.fold.founding.high_water:
                HighWater(dataset.fold.founding).create(dataset.fold.position)
    return report


def _salvaged(log: Log, carved: list[Row]) -> list[_Salvage]:
    """Return all that can be read of each data set."""
    names, is_sound = {row.dataset for row in carved}, True
    with suppress(LedgerError):
        names |= set(datasets_of(log))
    try:
        with log.snapshot():
            log.check()
    except LedgerError:
        is_sound = False
    return [_Salvage(log, name, carved, is_sound) for name in sorted(names)]


def _carved(path: Path) -> Iterator[Row]:
    """Yield the rows that the pages of a file and its log still hold, by their own hashes."""
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


def _read(log: Log, name: str) -> tuple[list[Row], bool]:
    """Return all rows that can be read, and whether that went without an error."""
    rows: list[Row] = []
    with suppress(LedgerError), log.snapshot():
        rows.extend(log.table(name))
        return rows, True
    # By the index, over those that cannot be read: one way may be damaged where the other is not.
    number = missing = 0
    while missing < _MOST_MISSING:
        row = None
        with suppress(LedgerError):
            row = log.row(name, number)
        rows += [row] if row else []
        number, missing = number + 1, 0 if row else missing + 1
    return rows, False


def _end(log: Log, name: str) -> int | None:
    """Return number of the last row, where the index and the table agree on it; None otherwise."""
    with suppress(LedgerError):
        head = log.head(name)
        end = f"SELECT number FROM log {log.scan} DESC LIMIT 1"  # noqa: S608 - a constant of the log
        last = log.ask(end, name)
        if head is not None and last == [(head.number,)]:
            return head.number
    return None


@final
class _Salvage:
    """Rows of one data set: those before the first wrong one, and the others.

    Parameters
    ----------
    log : Log
    name : str
    carved : list of Row
        From the pages of a file, of any data set.
    is_sound : bool
        Whether the database found nothing wrong.
    """

    def __init__(self, log: Log, name: str, carved: list[Row], is_sound: bool) -> None:
        self.name = name
        some, went_well = _read(log, name)
        rows = [*dict.fromkeys([*some, *(row for row in carved if row.dataset == name)])]
        good = [row for row in rows if row.dataset == name and _is_sound(row)]
        sound = set(good)
        bad = [row for row in rows if row not in sound]
        # Of several with one number those that others follow come first: pages also hold rows of
        # transactions that were undone.
        followed = {str(row.facts()["previous"]) for row in good}
        good.sort(key=lambda row: (row.number, row.hash not in followed))
        if not good or good[0].number != 0:
            raise LedgerCorruptedError(0, "(the founding) is not the one that was written")
        answers: dict[int, tuple[Any, ...]] = {}
        with suppress(LedgerError):
            for number, answer in answers_of(log, name):
                answers[number] = (*answers.get(number, ()), answer)
        self.fold = Fold(good[0])
        self.kept, self.aside = good[:1], []
        for row in good:
            if row.number <= self.fold.last.number:
                continue
            whole = row._replace(answers=answers.get(row.number, ()))
            try:
                check_answers(whole)
                self.fold.add(whole)
                self.kept.append(whole)
            except LedgerCorruptedError:
                self.aside.append(row)
        end = _end(log, name)
        self._is_cut = end is None or end > max(
            row.number for row in rows if type(row.number) is int
        )
        if self.fold.founding.high_water:
            with suppress(LedgerError):
                before, stated = HighWater(self.fold.founding).read()
                self.aside += [row for row in stated if row.number > self.fold.last.number]
                self._is_cut = before.sequence > max(row.number for row in [*good, *stated])
        lines = {row.line for row in self.kept}
        self.aside += [row for row in bad if row.line not in lines]
        self.is_sound = is_sound and went_well and not self.aside and not self._is_cut

    def charge_again(self, note: str) -> tuple[float, str]:
        """Bring each sum to the highest that was stated; what is charged, and what is assumed."""
        if not (self.aside or self._is_cut):
            return 0.0, ""
        highest, takes_all = self._stated()
        accounts = self.fold.accounts
        owners = [key for key in highest if key[0] in ("user", "project")]
        order = [("account", each) for each in accounts.open_keys()] + owners + [("ledger", "")]
        spent = accounts.total("")
        for kind, name in order:
            owner = {kind: name} if kind in ("user", "project") else {}
            account, now = "" if owner else name, accounts.sum_of(kind, name)
            limits = accounts.limits(account, owner.get("user"), owner.get("project"))
            most = max(highest.get((kind, name), 0), now)
            # What a reservation is charged shows in its own sum alone, which a missing row may have
            # stated last; and the ledger has paid for all of it.
            if account or (takes_all and not owner):
                most = max(most, exact(limits[0].ceiling))
            if most == now and kind != "ledger":
                continue
            charge = _rounded_up(most - now)
            if not all(fits(each.total, charge, each.ceiling) for each in limits):
                charge = min(largest_refund(each.ceiling, each.total) for each in limits)
            unit = self.fold.founding.terms.unit
            event = Bookkeeping("repair", charge, unit)
            posting = Posting(account, event, note, **owner)
            self.kept.append(self.fold.post(posting, time_text()))
        return nearest(accounts.total("") - spent), (
            "all that was left: the last rows state no sum"
            if takes_all
            else "the highest sums that any row states"
        )

    def _stated(self) -> tuple[dict[tuple[str, str], int], bool]:
        """Return the highest sum of each account and owner, and whether the last rows have none."""
        highest: dict[tuple[str, str], int] = {}
        last_stated, last_unstated = self.fold.last.number, -1
        for row in self.aside:
            try:
                # By its hash: a sum in a damaged row may be the damage.
                facts = row.facts()
                for kind, text in facts["sums"].items():
                    key = kind, facts.get(kind, "")
                    highest[key] = max(highest.get(key, 0), exact_of(text))
                last_stated = max(last_stated, row.number)
            except (LedgerCorruptedError, AttributeError, KeyError, TypeError, ValueError):
                last_unstated = max(last_unstated, row.number if type(row.number) is int else 2**62)
        # Sums grow from row to row: one that states none matters where no row after it does.
        return highest, self._is_cut or last_unstated > last_stated


def _is_sound(row: Row) -> bool:
    try:
        row.facts()
    except LedgerCorruptedError:
        return False
    return True


def _rounded_up(total: int) -> float:
    """Return the smallest double that is not below an exact sum."""
    amount = nearest(total)
    return amount if exact(amount) >= total else math.nextafter(amount, math.inf)
