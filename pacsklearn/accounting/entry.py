"""Row of a ledger, and the chain of hashes that ties it to the rows before it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, Final, NamedTuple, final

from pacsklearn.core.accounts import Posting, Terms
from pacsklearn.core.event import Event, Provenance, mechanism_to_dict


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
        # What a later version added counts where it is given: earlier foundings keep their hash.
        facts = vars(self).items()
        content = {name: value for name, value in facts if value is not None and name != "hash"}
        return hashlib.sha256(_ENCODE(content).encode()).hexdigest()

    @property
    def terms(self) -> Terms:
        """What accounts are kept by."""
        return Terms(self.ceiling, self.unit, self.per_user, self.per_project)


@final
class Entry(NamedTuple):
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

    def content(self) -> str:
        """Everything but the hash as JSON, with sorted keys; what is not given is left out."""
        # As a JSON encoder writes it, in a third of its time; doubles come back exactly.
        return (
            f'{{"account":{_quoted(self.account)},"charge":{self.charge!r},'
            f'"created":{_quoted(self.created)},"dataset":{_quoted(self.dataset)},'
            f'"event":{_quoted(self.event)}{_given("expires", self.expires)},'
            f'"key":{_quoted(self.key)},"kind":{_quoted(self.kind)},"note":{_quoted(self.note)},'
            f'"previous":{_quoted(self.previous)}{_given("project_id", self.project_id)},'
            f'"sequence":{self.sequence:d},"total":{_quoted(self.total)},'
            f'"unit":{_quoted(self.unit)}{_given("user_id", self.user_id)}}}'
        )

    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content().encode()).hexdigest()

    @property
    def posting(self) -> Posting:
        """What accounts add up."""
        event = event_from_text(self.event)
        return Posting(self.account, event, self.note, self.user_id, self.project_id, self.expires)


_ENCODE: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def is_sound(row: Entry | Founding) -> bool:
    """Whether the row has the content it was written with."""
    try:
        return row.digest() == row.hash
    except (TypeError, ValueError):
        return False


def _given(name: str, value: str | None) -> str:
    return "" if value is None else f',"{name}":{_quoted(value)}'


def types_of(row: Iterable[Any]) -> list[type]:
    """Types of a row's values: 1 and 1.0 are equal, and have different digests."""
    return [*map(type, row)]


def event_text(event: Event) -> str:
    """The event as JSON with sorted keys: one text for one content."""
    mechanism = ""
    if event.mechanism is not None:
        mechanism = f',"mechanism":{_ENCODE(mechanism_to_dict(event.mechanism))}'
    return (
        f'{{"backend":{_quoted(event.backend)},"bound":{event.bound!r},"charge":{event.charge!r},'
        f'"confidence":{event.confidence!r},"key":{_quoted(event.key)},'
        f'"kind":{_quoted(event.kind)}{mechanism},"n_candidates":{event.n_candidates},'
        f'"n_noisy":{event.n_noisy},"n_outputs":{event.n_outputs},'
        f'"provenance":{_plugins(event.provenance)},"unit":{_quoted(event.unit)}}}'
    )


@lru_cache(maxsize=64)
def _plugins(provenance: tuple[Provenance, ...]) -> str:
    return _ENCODE([vars(plugin) for plugin in provenance])


def without_password(address: str) -> str:
    """Address of a database as it may be printed."""
    hidden = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", address)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", hidden)


def event_from_text(text: str) -> Event:
    """The event that :func:`event_text` wrote."""
    return Event.from_dict(json.loads(text))
