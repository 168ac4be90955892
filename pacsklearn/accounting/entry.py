"""Row of a ledger, and the chain of hashes that ties it to the rows before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, final

from pacsklearn.core.event import Event

__all__ = ["Entry", "Founding", "Position", "event_from_text", "event_text", "is_sound", "now"]


@final
@dataclass(frozen=True)
class Position:
    """Place in a ledger: what was written up to here cannot be changed without changing it.

    Parameters
    ----------
    sequence : int
        Rows so far.
    hash : str
        Hash of the last of them, which covers all before it; of the account itself when there
        are none.
    """

    sequence: int
    hash: str


@final
@dataclass(frozen=True)
class Founding:
    """First link of a dataset's chain: its ceiling and unit, written once.

    Parameters
    ----------
    name : str
        Dataset.
    ceiling : float
    unit : str
    created : str
        Time, in UTC.
    nonce : str
        Tells two ledgers founded alike from each other.
    hash : str
    """

    name: str
    ceiling: float
    unit: str
    created: str
    nonce: str
    hash: str = ""

    def digest(self) -> str:
        """SHA-256 of everything but the hash."""
        return _digest(self)


@final
@dataclass(frozen=True)
class Entry:
    """One row; never changed, never deleted.

    Parameters
    ----------
    dataset : str
    sequence : int
        1, 2, ... within the dataset.
    account : str
        Empty for the ledger itself, else the key of a reservation.
    key : str
        Idempotency key, unique in the dataset.
    kind : str
    charge : float
        Negative for what a closed reservation returned.
    unit : str
    event : str
        The whole event as JSON.
    note : str
    total : str
        Sum of the account's charges so far, an exact fraction.
    created : str
        Time, in UTC.
    previous, hash : str
        Hash of the row before (of the founding for the first one) and of this one.
    """

    dataset: str
    sequence: int
    account: str
    key: str
    kind: str
    charge: float
    unit: str
    event: str
    note: str
    total: str
    created: str
    previous: str
    hash: str = ""

    def digest(self) -> str:
        """SHA-256 of everything but the hash."""
        return _digest(self)

    @property
    def exact_total(self) -> Fraction:
        """:attr:`total` as a number."""
        return Fraction(self.total)


def is_sound(row: Entry | Founding) -> bool:
    """Whether the row has the content it was written with."""
    try:
        return row.digest() == row.hash
    except (TypeError, ValueError):
        return False


def _digest(row: Entry | Founding) -> str:
    content = {name: value for name, value in vars(row).items() if name != "hash"}
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def _canonical(content: dict[str, Any]) -> str:
    # Doubles are written with the digits that give them back exactly.
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def event_text(event: Event) -> str:
    """The event as JSON: one text for one content."""
    return _canonical(event.to_dict())


def event_from_text(text: str) -> Event:
    """The event that :func:`event_text` wrote."""
    return Event.from_dict(json.loads(text))


def now() -> str:
    """Time in UTC, for the reader: nothing depends on clocks."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
