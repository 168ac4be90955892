"""The frozen fact of one release, with the numbers that are needed to price it again."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Final, TypeAlias, final

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
class QueryAnswers:
    """Answers to queries, each contested one with noise for a step budget.

    Parameters
    ----------
    answers : str
        ``"labels"``, ``"probabilities"`` or ``"values"``.
    step_budget : float
        Nats of one contested answer.
    n_contested : int
        Answers on which the candidates differ.
    """

    answers: str
    step_budget: float
    n_contested: int


@final
@dataclass(frozen=True)
class SlicedNoise:
    """Gaussian noise calibrated along slices, and its Renyi divergence of one order in every view.

    Parameters
    ----------
    shape : str
        ``"isotropic"``, ``"anisotropic"`` or ``"worst-case"``.
    aggregation : str
        View that was charged.
    order : float
        Renyi order.
    average, joint, worst_slice, full : float
        Divergence in each view, in nats (see :class:`~pacsklearn.srpp.laws.sliced_law.RenyiCosts`).
    """

    shape: str
    aggregation: str
    order: float
    average: float
    joint: float
    worst_slice: float
    full: float


@final
@dataclass(frozen=True)
class GradientSteps:
    """Steps of clipped, noised SGD, as ``SRPPSGDAccountant.of`` prices them.

    Parameters
    ----------
    n_steps : int
    noise_multiplier : float
        Standard deviation of the noise on a batch's sum, in clipping norms.
    order : float
        Renyi order.
    accounting : str
        How the draw of the batches counts.
    n_rows, batch_size : int
    sampling : str
        How batches are drawn.
    largest : int
        Most differing rows in a batch.
    second_moment : float
        Their mean square.
    log_law : tuple of (float or None), or None
        Logarithms of the probabilities of 0, 1, ... of them, where they are known; None for zero.
    tail, failure : float
        Probabilities that ``largest`` is exceeded in a step, and that the bounds are wrong.
    mean_over_data : bool
    norms : tuple of float
        Clipping norms of the blocks.
    sizes : tuple of int
        Their numbers of parameters.
    """

    n_steps: int
    noise_multiplier: float
    order: float
    accounting: str
    n_rows: int
    batch_size: int
    sampling: str
    largest: int
    second_moment: float
    log_law: tuple[float | None, ...] | None
    tail: float
    failure: float
    mean_over_data: bool
    norms: tuple[float, ...]
    sizes: tuple[int, ...]


Mechanism: TypeAlias = QueryAnswers | SlicedNoise | GradientSteps
"""Any of them; a release that is priced by its bound alone has none."""

_NAMES: Final[dict[str, Any]] = {
    "query-answers": QueryAnswers,
    "sliced-noise": SlicedNoise,
    "gradient-steps": GradientSteps,
}


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


def mechanism_to_dict(mechanism: Mechanism) -> dict[str, Any]:
    """Plain dictionary, for JSON, with the mechanism's name as ``"type"``."""
    (name,) = (name for name, kind in _NAMES.items() if isinstance(mechanism, kind))
    facts = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in vars(mechanism).items()
    }
    _check(facts)
    return {"type": name} | facts


def _check(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        for each in value if isinstance(value, list) else [value]:
            plain = each is None or type(each) in {bool, int, float, str}
            if not plain or (type(each) is float and not math.isfinite(each)):
                raise LedgerMismatchError(
                    f"{name} of a mechanism must be a text, a finite number of Python's own types, "
                    f"or a tuple of them, got a value of type {type(each).__name__}."
                )


def mechanism_from_dict(facts: dict[str, Any]) -> Mechanism:
    """Mechanism that :func:`mechanism_to_dict` wrote."""
    rest = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in facts.items()
        if key != "type"
    }
    mechanism: Mechanism = _NAMES[facts["type"]](**rest)
    return mechanism


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
