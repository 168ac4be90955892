"""Row of a ledger: one line of text, with the totals after it and the hash of the row before."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, final

from pacsklearn.exceptions import LedgerCorruptedError
from pacsklearn.kernel.ledger.accounts import LedgerTerms, Posting
from pacsklearn.kernel.ledger.event import Event, Provenance

_HASH: Final = ',"hash":"'
_TAIL: Final = len(_HASH) + 64 + len('"}')
_decoded: Final[Any] = json.JSONDecoder().scan_once  # type: ignore[attr-defined] # from C


# No tuple: saved sessions hold one, and read records back without running code.
@final
@dataclass(frozen=True)
class Position:
    """Place in a ledger: what was written up to here cannot be changed without changing it.

    Parameters
    ----------
    sequence : int
        Rows so far.
    hash : str
        Hash of the last of them, which covers all before it; of the founding when there are none.
    """

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Return the position that was printed.

        Raises
        ------
        ValueError
        """
        sequence, _, digest = text.partition(":")
        if not (sequence.isascii() and sequence.isdigit() and len(sequence) < 20 and digest):
            raise ValueError(
                "position must be <rows>:<hash>, as `pacsklearn ledger show` prints it."
            )
        return cls(int(sequence), digest)


@final
class Row(NamedTuple):
    """One row; never changed, never deleted. Row 0 is the founding.

    Parameters
    ----------
    dataset : str
    number : int
    key : str or None
        Unique in the data set: idempotency key of an event.
    line : str
        Everything as JSON, the row's own hash last.
    answers : tuple of tuple
        Stored answers that belong to it, whose digest is in the line: responder, name, value,
        margin and seal of each.
    """

    dataset: str
    number: int
    key: str | None
    line: str
    answers: tuple[tuple[str, bytes, bytes, bytes, bytes], ...] = ()

    @property
    def hash(self) -> str:
        """SHA-256 of the rest of the line, as the line says."""
        return self.line[-66:-2]

    @property
    def position(self) -> Position:
        """Place of this row."""
        return Position(self.number, self.hash)

    def facts(self) -> dict[str, Any]:
        """Return the content of a row that is as it was written.

        Raises
        ------
        LedgerCorruptedError
        """
        try:
            line = self.line
            # The hash first: nothing is read out of a line that is not the one that was written.
            if sha256(line[:-_TAIL].encode()).hexdigest() != line[-66:-2]:
                raise ValueError(line)
            facts: dict[str, Any]
            facts, end = _decoded(line, 0)
            if end != len(line) or (facts["dataset"], facts["number"], facts["key"]) != self[:3]:
                raise ValueError(line)
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
            number: Any = self.number  # of a damaged row perhaps no number at all
            raise LedgerCorruptedError(
                number if isinstance(number, int) else 0,
                "does not have the content it was written with",
            ) from None
        return facts


def row_of(dataset: str, number: int, key: str | None, previous: str, facts: dict[str, Any]) -> Row:
    """Return the row that states some facts."""
    named = {"dataset": dataset, "number": number, "key": key, "previous": previous}
    start = json_text(named | {"nonce": secrets.token_hex(8)} | facts)[:-1]
    digest = sha256(start.encode()).hexdigest()
    return Row(dataset, number, key, f'{start}{_HASH}{digest}"}}')


def answers_digest(answers: tuple[tuple[Any, ...], ...]) -> str:
    """Return the SHA-256 of stored answers, whatever their order."""
    digest = sha256()
    for answer in sorted(answers):
        for part in answer:
            content = part.encode() if isinstance(part, str) else bytes(part)
            digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


@final
@dataclass(frozen=True)
class Founding:
    """What a data set's ledger was founded with; what row 0 says.

    Parameters
    ----------
    dataset : str
    terms : LedgerTerms
    high_water : str
        File that the end of the ledger is also written to; empty for none.
    hash : str
        Of the row, which holds a nonce: two ledgers founded alike are two.
    """

    dataset: str
    terms: LedgerTerms
    high_water: str
    hash: str

    @classmethod
    def of(cls, row: Row) -> Founding:
        """Return the founding that a row states.

        Raises
        ------
        LedgerCorruptedError
        """
        try:
            facts = row.facts()
            if row.number != 0 or facts["previous"]:
                raise ValueError(row.number)
            return cls(
                row.dataset, LedgerTerms(**facts["terms"]), str(facts["high_water"]), row.hash
            )
        except (LedgerCorruptedError, KeyError, TypeError, ValueError):
            raise LedgerCorruptedError(
                0, "(the founding) is not the one that was written"
            ) from None


def founding_row(dataset: str, terms: LedgerTerms, high_water: str, time: str) -> Row:
    """Return row 0 of a new ledger."""
    facts = {"time": time, "terms": vars(terms), "high_water": high_water}
    return row_of(dataset, 0, None, "", facts)


def posting_facts(posting: Posting) -> dict[str, Any]:
    """Return the members of a row's line that say what was charged."""
    account, event, note, user, project, expires = posting
    own: dict[str, Any] = {"type": event.name} | vars(event)
    del own["key"]  # which the row has
    own["provenance"] = [[*vars(plugin).values()] for plugin in event.provenance]
    others = {"note": note or None, "user": user, "project": project, "expires": expires}
    return {"account": account, "event": own} | {
        name: value for name, value in others.items() if value is not None
    }


def posting_of(facts: dict[str, Any]) -> Posting:
    """Return the posting of a row whose hash was checked."""
    of = facts.get
    return Posting(facts["account"], stored_event(facts), of("note", ""), of("user"),
                   of("project"), of("expires"))  # fmt: skip


def stored_event(facts: dict[str, Any]) -> Event:
    """Return the event of a row whose hash was checked.

    Its values were checked when it was made, and are not checked again: rows are read by the
    million.
    """
    own = facts["event"]
    event = object.__new__(event_class(own.pop("type")))
    own["provenance"] = _plugins(*map(tuple, own["provenance"]))
    own["key"] = facts["key"]
    for name in event.tuples:
        own[name] = own[name] and tuple(own[name])
    object.__setattr__(event, "__dict__", own)
    return event


@cache
def event_class(name: str) -> type[Event]:
    """Return the kind of event that a ledger names.

    Raises
    ------
    UnknownNameError
        A ValueError, when no ring or plugin brings it.
    """
    from pacsklearn.kernel.plugins.registry import registry  # which knows the rings' events

    # A name means one class in every process: a row is read as it was written, or refused.
    made: type[Event] = registry().load("event", name)
    return made


@lru_cache(maxsize=256)
def _plugins(*plugins: tuple[str, str, str, str]) -> tuple[Provenance, ...]:
    return tuple(Provenance(*plugin) for plugin in plugins)


json_text: Final = json.JSONEncoder(
    separators=(",", ":"), allow_nan=False, check_circular=False
).encode
"""Content as JSON, without spaces."""
