"""The frozen fact of one release."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Final, final

from pacsklearn.core.mechanism import Mechanism, mechanism_from_dict, mechanism_to_dict
from pacsklearn.exceptions import LedgerMismatchError

LONGEST_NOTE: Final = 100_000
"""Bytes of a note."""

_LONGEST: Final = 1000
"""Bytes of a key, a unit or a name: what every database can look up."""
_LARGEST: Final = 2**63 - 1


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


@final
@dataclass(frozen=True)
class Event:
    """What one release did to the budget, and what is needed to price it again.

    Parameters
    ----------
    kind : str
        ``"parameters"``, ``"responses"``, ...
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
    mechanism : Mechanism, optional
        Sizes, orders and multipliers of the mechanism; None when ``bound`` says all that is known.

    Raises
    ------
    LedgerMismatchError
        When an argument is not of its type. Numbers of other types (numpy's, fractions) become
        Python's, and -0.0 becomes 0.0, so that an event is the same before and after a database.
    """

    kind: str
    charge: float
    unit: str
    backend: str
    bound: float
    n_candidates: int
    n_outputs: int
    n_noisy: int
    provenance: tuple[Provenance, ...] = ()
    confidence: float = 1.0
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    mechanism: Mechanism | None = None

    def __post_init__(self) -> None:
        own = vars(self)  # frozen for everybody else
        for name in ("kind", "unit", "backend", "key"):
            own[name] = ledger_text(name, own[name])
        for name in ("charge", "bound", "confidence"):
            own[name] = ledger_number(name, own[name])
        for name in ("n_candidates", "n_outputs", "n_noisy"):
            own[name] = _count(name, own[name])
        plugins = own["provenance"]
        if not isinstance(plugins, list | tuple) or not all(
            isinstance(plugin, Provenance) for plugin in plugins
        ):
            raise LedgerMismatchError(
                "provenance of an event must be a tuple of Provenance, got "
                f"{type(plugins).__name__}."
            )
        own["provenance"] = tuple(plugins)
        if own["mechanism"] is not None and not isinstance(own["mechanism"], Mechanism):
            raise LedgerMismatchError(
                "mechanism of an event must be None, QueryAnswers, SlicedNoise or GradientSteps, "
                f"got {type(own['mechanism']).__name__}."
            )
        if own["mechanism"] is not None:
            mechanism_to_dict(own["mechanism"])  # checks its numbers

    @property
    def is_adaptive(self) -> bool:
        """Whether later ones of its kind depended on what it released."""
        return self.kind == "responses"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON; without ``mechanism`` when there is none."""
        facts = {name: value for name, value in vars(self).items() if name != "mechanism"}
        facts["provenance"] = [dict(vars(plugin)) for plugin in self.provenance]
        if self.mechanism is not None:
            facts["mechanism"] = mechanism_to_dict(self.mechanism)
        return facts

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Event:
        """Event that :meth:`to_dict` wrote, also in earlier versions."""
        mechanism = facts.get("mechanism")
        return cls(
            **facts
            | {
                "provenance": tuple(Provenance(**plugin) for plugin in facts["provenance"]),
                "mechanism": None if mechanism is None else mechanism_from_dict(mechanism),
            }
        )


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
    if type(value) is not float and isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        shown = repr(value) if isinstance(value, float) else f"one of type {type(value).__name__}"
        raise LedgerMismatchError(f"{name} must be a number, finite and >= 0, got {shown}.")
    return number + 0.0  # -0.0 is 0.0


def _count(name: str, value: object) -> int:
    if type(value) is int:
        count = value
    else:
        count = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else -1
    if not 0 <= count <= _LARGEST:
        raise LedgerMismatchError(
            f"{name} of an event must be a whole number from 0 to 2**63 - 1, got a value of type "
            f"{type(value).__name__}."
        )
    return count
