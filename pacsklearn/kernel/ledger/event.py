"""The frozen fact of one release: a class for each kind, with the numbers that price it again."""

from __future__ import annotations

import math
import uuid
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Final, final

from pacsklearn._validation import is_real, is_whole
from pacsklearn.exceptions import LedgerMismatchError

LONGEST_NOTE: Final = 100_000
"""Bytes of a note."""

_LONGEST: Final = 1000
"""Bytes of a key, a unit or a name: what every database can look up."""
_LARGEST: Final = 2**63 - 1
_LONGEST_TIME: Final = 1e10
"""Seconds that a reservation may last."""


@final
@dataclass(frozen=True)
class Provenance:
    """Which plugin did something, and in which version.

    Parameters
    ----------
    name : str
        Registered name, or the class name of an instance that was passed in.
    target : str
        ``"package.module:Object"``.
    distribution, version : str
        What was installed.
    """

    name: str
    target: str
    distribution: str
    version: str

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            vars(self)[name] = ledger_text(name, value)


@dataclass(frozen=True)
class Event(ABC):
    """What one release did to the budget; each kind adds what is needed to price it again.

    Parameters
    ----------
    kind : str
        ``"parameters"``, ``"responses"``, ..., as ledgers show it.
    charge : float
        What the ledger is charged, in ``unit``.
    unit : str
        ``"nats"``; units are never added across kinds.
    backend : str
        Noise backend.
    bound : float
        The law's bound on the step's mutual information.
    n_candidates, n_outputs, n_noisy : int
        Size of the secret space, of the released vector, and of its noisy part.
    provenance : tuple of Provenance
        Plugins involved.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    key : str
        Idempotency key: charging one key twice charges once.

    Raises
    ------
    LedgerMismatchError
        When an argument is not of its type. Numbers of other types (numpy's, fractions) become
        Python's, and -0.0 becomes 0.0, so that an event is the same before and after a database.
    """

    name: ClassVar[str]
    is_adaptive: ClassVar[bool] = False
    """Whether later ones of its kind depended on what it released."""
    tuples: ClassVar[tuple[str, ...]] = ()
    """Facts that JSON has as lists, beside the plugins."""
    checks: ClassVar[Mapping[str, Callable[[str, Any], Any]]] = {}
    """Checks of these, by their types, as of the others."""

    kind: str
    charge: float
    unit: str
    backend: str = ""
    bound: float = 0.0
    n_candidates: int = 0
    n_outputs: int = 0
    n_noisy: int = 0
    provenance: tuple[Provenance, ...] = ()
    confidence: float = 1.0
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        own = vars(self)  # frozen for everybody else
        # What a database or JSON would give back as something else is refused now: a row whose
        # event cannot be read again makes a ledger unreadable for good.
        for name, check in _checks_of(type(self)):
            own[name] = check(name, own[name])

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary, for JSON."""
        plugins = [dict(vars(plugin)) for plugin in self.provenance]
        return {"type": self.name} | vars(self) | {"provenance": plugins}


@final
class LatticeNoise(Event):
    """A release under a law of noise, which its bound prices."""

    name = "lattice-noise"


@final
class Bookkeeping(Event):
    """What a ledger or a session writes for itself: nothing was released with it."""

    name = "bookkeeping"


@final
@dataclass(frozen=True, kw_only=True)
class QueryAnswers(Event):
    """Answers to queries, each contested one (``n_noisy``) with noise for a step budget.

    Parameters
    ----------
    answers : str
        ``"labels"``, ``"probabilities"`` or ``"values"``.
    step_budget : float
        Nats of one contested answer.
    """

    name = "query-answers"
    is_adaptive = True

    answers: str
    step_budget: float


def ledger_text(name: str, value: object, longest: int = _LONGEST) -> str:
    """Return ``value`` as a text that every database gives back as it is.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
    longest : int
        Bytes in UTF-8.

    Raises
    ------
    LedgerMismatchError
        When it is no text, is too long, or holds half a surrogate pair or a null character, which
        databases refuse or cut off.
    """
    if type(value) is str and len(value) <= longest and value.isascii() and "\0" not in value:
        return value  # nearly all of them, on the way of every charge
    if not isinstance(value, str):
        raise LedgerMismatchError(
            f"{name} must be a text, got a value of type {type(value).__name__}; write "
            f"{name}=str(...)."
        )
    text = str.__str__(value)  # a subclass may print as something else
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        raise LedgerMismatchError(
            f"{name} must be a text that can be stored: it holds a null character or half of a "
            "surrogate pair."
        )
    if size > longest:
        raise LedgerMismatchError(
            f"{name} must be a text of at most {longest} bytes, got one of {size}."
        )
    return text


def ledger_number(name: str, value: object) -> float:
    """Return ``value`` as a finite float that is never -0.0, or raise LedgerMismatchError."""
    number = value if type(value) is float else math.nan
    if type(value) is not float and is_real(value):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        shown = repr(value) if isinstance(value, float) else f"one of type {type(value).__name__}"
        raise LedgerMismatchError(f"{name} must be a number, finite and >= 0, got {shown}.")
    return number + 0.0  # -0.0 is 0.0


def ledger_amount(name: str, value: object) -> float:
    """Return ``value`` as a finite float of at least 0, or raise LedgerMismatchError."""
    number = ledger_number(name, value)
    if number < 0:
        raise LedgerMismatchError(f"{name} must be a number, finite and >= 0, got {number!r}.")
    return number


def ledger_seconds(name: str, value: object) -> float:
    """Return ``value`` as a time that a reservation may last, or raise LedgerMismatchError."""
    number = ledger_number(name, value)
    if not 0 < number <= _LONGEST_TIME:
        raise LedgerMismatchError(
            f"{name} must be None or a positive number, at most {_LONGEST_TIME:.0e}, "
            f"got {number!r}."
        )
    return number


def _count(name: str, value: object) -> int:
    count = int(value) if is_whole(value) else -1
    if not 0 <= count <= _LARGEST:
        raise LedgerMismatchError(
            f"{name} of an event must be a whole number from 0 to 2**63 - 1, got a value of type "
            f"{type(value).__name__}."
        )
    return count


def _plugins(name: str, value: object) -> tuple[Provenance, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(p, Provenance) for p in value):
        raise LedgerMismatchError(
            f"{name} of an event must be a tuple of Provenance, got {type(value).__name__}."
        )
    return tuple(value)


_CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "str": ledger_text,
    "float": ledger_number,
    "int": _count,
    "tuple[Provenance, ...]": _plugins,
}
"""Checks of an event's arguments, by their types."""


@cache
def _checks_of(kind: type[Event]) -> list[tuple[str, Callable[[str, Any], Any]]]:
    """Return the arguments of a class of events that are checked, and how."""
    checks = {**kind.checks, **_CHECKS}
    return [
        (each.name, checks[str(each.type)]) for each in fields(kind) if str(each.type) in checks
    ]
