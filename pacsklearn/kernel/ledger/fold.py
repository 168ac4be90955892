"""Rows of a ledger added up: one pure fold for charging, verifying, repairing and checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerCorruptedError
from pacsklearn.kernel.ledger.accounts import Accounts, Posting
from pacsklearn.kernel.ledger.exact_sum import exact_text
from pacsklearn.kernel.ledger.row import (
    Founding,
    Position,
    Row,
    answers_digest,
    posting_facts,
    posting_of,
    row_of,
)

CHECKPOINT: Final = 1000
"""Rows between two that hold all sums; more of them where there are more sums."""


@final
class Fold:
    """What the rows of a data set add up to, up to one of them.

    Parameters
    ----------
    founding : Row
        Row 0.
    checkpoint : Row, optional
        Row to go on from, in whose sums the rows before it are.

    Raises
    ------
    LedgerCorruptedError
        When the founding does not have the content it was written with.
    """

    def __init__(self, founding: Row, checkpoint: Row | None = None) -> None:
        self.founding = Founding.of(founding)
        self.last = founding
        self.accounts = Accounts(self.founding.terms)
        self.n_answers: dict[str, int] = {}
        """Stored answers of each responder."""
        self.beliefs: dict[str, int] = {}
        """Row with the newest belief of each session."""
        self._checkpoint = 0
        if checkpoint is not None:
            facts = checkpoint.facts()
            # Its sums are taken on trust here: whoever wrote the row had verified those before it,
            # and `verify` adds all of them up.
            try:
                state = facts["state"]
                self.accounts = Accounts.resumed(self.founding.terms, state)
                self.n_answers, self.beliefs = state["answers"], state["beliefs"]
                previous = facts["previous"]
            except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
                raise LedgerCorruptedError(checkpoint.number, "cannot be read") from None
            self._take(checkpoint, facts, previous)

    @property
    def position(self) -> Position:
        """Place of the last row."""
        return self.last.position

    def add(self, row: Row) -> None:
        """Check the next row and count it.

        Raises
        ------
        LedgerCorruptedError
            With the number of the row that is wrong or missing.
        """
        if row.number != self.last.number + 1:
            raise LedgerCorruptedError(self.last.number + 1, "is missing")
        facts = row.facts()
        # A reader that begins here takes the sums as they stand, so whoever comes by adds them up.
        if "state" in facts and facts["state"] != self.state():
            raise LedgerCorruptedError(row.number, "does not have the sums of the rows before it")
        self._take(row, facts, self.last.hash)

    def _take(self, row: Row, facts: dict[str, Any], previous: str) -> None:
        """Count a row, if it may stand here."""
        try:
            if facts["previous"] != previous:
                raise LedgerCorruptedError(row.number, "does not follow the row before it")
            if "event" in facts:
                posting = posting_of(facts)
                # Ceilings before sums: a row that should have been refused is named itself.
                if wrong := self.accounts.wrong(posting):
                    raise LedgerCorruptedError(row.number, wrong)
                self.accounts.add(posting)
                sums = self.accounts.stated(posting)
            else:
                self._count_answers(row, facts["stored"])
                sums = {"ledger": exact_text(self.accounts.total(""))}
            if facts["sums"] != sums:
                raise LedgerCorruptedError(row.number, "does not have the sum of the charges")
            if "state" in facts:
                self._checkpoint = row.number
            if facts["checkpoint"] != self._checkpoint:
                raise LedgerCorruptedError(row.number, "names another checkpoint")
        except LedgerCorruptedError:
            raise
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            raise LedgerCorruptedError(row.number, "cannot be read") from None
        self.last = row._replace(answers=()) if row.answers else row

    def _count_answers(self, row: Row, stored: dict[str, Any]) -> None:
        responder, count = stored["responder"], int(stored["count"])
        if count:
            self.n_answers[responder] = self.n_answers.get(responder, 0) + count
        if stored["belief"] is not None:
            self.beliefs[stored["session"]] = row.number

    def state(self) -> dict[str, Any]:
        """Return all that a checkpoint holds."""
        more = {"answers": dict(self.n_answers), "beliefs": dict(self.beliefs)}
        return self.accounts.state() | more

    def post(self, posting: Posting, time: str) -> Row:
        """Count a posting that was checked; the row that says so."""
        facts = self._start(time) | posting_facts(posting)
        self.accounts.add(posting)
        return self._made(posting.event.key, facts, self.accounts.stated(posting))

    def store(self, stored: dict[str, Any], answers: tuple[Any, ...], time: str) -> Row:
        """Count stored answers and the belief after them; the row that says so."""
        # The answers' digest is under the row's hash: none is taken out, or changed, unseen.
        facts = stored | {"count": len(answers), "digest": answers_digest(answers)}
        sums = {"ledger": exact_text(self.accounts.total(""))}
        row = self._made(None, self._start(time) | {"stored": facts}, sums)
        self._count_answers(row, facts)
        return row._replace(answers=answers)

    def undo(self, before: Row, postings: Iterable[Posting]) -> bool:
        """Take back the postings since a row, the last one first; whether that was possible."""
        if self._checkpoint > before.number:  # which had been due: it is written by the next one
            return False
        for posting in postings:
            self.accounts.remove(posting)
        self.last = before
        return True

    def _start(self, time: str) -> dict[str, Any]:
        # A checkpoint holds every sum: it waits for as many rows, so that a row's share of the
        # space stays the same.
        due = self.last.number + 1 - self._checkpoint
        if due < max(CHECKPOINT, self.accounts.size + len(self.beliefs) + len(self.n_answers)):
            return {"checkpoint": self._checkpoint, "time": time}
        self._checkpoint = self.last.number + 1
        return {"checkpoint": self._checkpoint, "state": self.state(), "time": time}

    def _made(self, key: str | None, facts: dict[str, Any], sums: dict[str, str]) -> Row:
        number, previous = self.last.number + 1, self.last.hash
        row = row_of(self.founding.dataset, number, key, previous, facts | {"sums": sums})
        self.last = row
        return row
