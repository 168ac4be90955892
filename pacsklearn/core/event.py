"""The frozen fact of one release."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field
from typing import Any, final

__all__ = ["Event", "Provenance"]


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


@final
@dataclass(frozen=True)
class Event:
    """What one release did to the budget; enough to price it again later.

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

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON."""
        return asdict(self)
