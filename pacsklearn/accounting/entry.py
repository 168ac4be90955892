"""Row of a ledger, and the chain of hashes that ties it to the rows before it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from pacsklearn.core.accounts import Posting, Terms
from pacsklearn.core.event import Event

__all__ = [
    "Entry",
    "Founding",
    "Position",
    "event_from_text",
    "event_text",
    "is_sound",
    "without_password",
]


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

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Position that was printed.

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
    per_user, per_project : float, optional
        Ceilings of each user and of each project.
    """

    name: str
    ceiling: float
    unit: str
    created: str
    nonce: str
    hash: str = ""
    per_user: float | None = None
    per_project: float | None = None

    def digest(self) -> str:
        """SHA-256 of everything but the hash."""
        return _digest(self)

    @property
    def terms(self) -> Terms:
        """What accounts are kept by."""
        return Terms(self.ceiling, self.unit, self.per_user, self.per_project)


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
    user_id, project_id : str, optional
        On whose behalf.
    expires : str, optional
        Time after which a reservation may be closed by anybody.
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
    user_id: str | None = None
    project_id: str | None = None
    expires: str | None = None

    def digest(self) -> str:
        """SHA-256 of everything but the hash."""
        return _digest(self)

    @property
    def posting(self) -> Posting:
        """What accounts add up."""
        event = event_from_text(self.event)
        return Posting(self.account, event, self.note, self.user_id, self.project_id, self.expires)

    @property
    def exact_total(self) -> Fraction:
        """:attr:`total` as a number."""
        return Fraction(self.total)


_ENCODE: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode
_ADDED = frozenset({"per_user", "per_project", "user_id", "project_id", "expires"})


def is_sound(row: Entry | Founding) -> bool:
    """Whether the row has the content it was written with."""
    try:
        return row.digest() == row.hash
    except (TypeError, ValueError):
        return False


def _digest(row: Entry | Founding) -> str:
    # What a later version added counts where it is given: rows of earlier ones keep their hash.
    content = vars(row).copy()
    del content["hash"]
    for name in _ADDED:
        if content.get(name, "") is None:
            del content[name]
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def _canonical(content: dict[str, Any]) -> str:
    # Doubles are written with the digits that give them back exactly.
    return _ENCODE(content)


def event_text(event: Event) -> str:
    """The event as JSON: one text for one content."""
    return _canonical(event.to_dict())


def without_password(address: str) -> str:
    """Address of a database as it may be printed."""
    hidden = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", address)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", hidden)


def event_from_text(text: str) -> Event:
    """The event that :func:`event_text` wrote."""
    return Event.from_dict(json.loads(text))
