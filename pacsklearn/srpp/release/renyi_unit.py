"""The unit in which sliced Renyi divergences are counted."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.scenarios.scenario import Scenario

_PARTS = ("order", "aggregation", "slice profile", "scenario", "secret")


def renyi_unit(
    *,
    order: float,
    aggregation: str,
    profile: SliceProfile | None,
    scenario: Scenario,
    secret_name: str | None = None,
) -> str:
    """Return the unit of a ledger that adds sliced Renyi divergences.

    They add up for one order, one way of aggregating, one slice profile and one scenario (srpp,
    Theorem 5.8) about one secret: the same column of the same table. All five are in the unit, and
    a ledger refuses events of another unit. The secret goes by a name that a user gives: a digest
    of a short column could be guessed.

    Parameters
    ----------
    order : float
        Renyi order.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``; or another way, named in full.
    profile : SliceProfile or None
        None for divergences of the whole release.
    scenario : Scenario
    secret_name : str, optional
        What a user calls the secret.

    Returns
    -------
    str
    """
    # A digest: the description may be long, and a unit is written with every event.
    about = hashlib.sha256(scenario.description.encode()).hexdigest()[:12]
    slices = "none" if profile is None or aggregation == "full" else profile.digest
    secret = "unnamed" if secret_name is None else "'" + quote(secret_name, safe="") + "'"
    return (
        f"renyi(order={order:.12g}, {aggregation}, slices={slices}, scenario={about}, "
        f"secret={secret})"
    )


def check_secret_name(name: Any, ledger: Any) -> None:
    """Refuse a name that is none, and a shared ledger without one.

    Raises
    ------
    TypeError, ValueError
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"secret_name must be a text or None, got an object of type {type(name).__name__}."
        )
    if name is not None and not name.strip():
        raise ValueError("secret_name must not be empty; call the secret by a name of your own.")
    if ledger is not None and name is None:
        raise ValueError(
            "A shared ledger adds releases about one secret only, and cannot tell by itself which "
            "ones are: give secret_name=, a name of your own for the table and column that the "
            "secret is about ('clinic 2026: diagnosis'), the same for every release about it. It "
            "is written to the ledger."
        )


def check_unit(counted: str, unit: str) -> None:
    """Refuse a ledger that counts something else, and say what differs.

    Parameters
    ----------
    counted : str
        Unit of the ledger.
    unit : str
        Unit of the release.

    Raises
    ------
    LedgerMismatchError
        When they differ.
    """
    if counted == unit:
        return
    theirs, ours = _parts(counted), _parts(unit)
    if theirs is None or ours is None:
        raise LedgerMismatchError(
            f"This ledger counts {counted}, the release is counted in {unit}. Mutual information "
            "and Renyi divergences bound different things and are never added; give the release a "
            "ledger of its own unit, MemoryLedger(ceiling, unit=model.ledger_unit(n_numbers))."
        )
    differing = [
        f"{name} ({mine} against {yours} on the ledger)"
        for name, mine, yours in zip(_PARTS, ours, theirs, strict=True)
        if mine != yours
    ]
    raise LedgerMismatchError(
        f"Renyi divergences add up under one {', one '.join(_PARTS)} only; here differs: "
        f"{'; '.join(differing)}. Use a ledger of the unit {unit!r}."
    )


def _parts(unit: str) -> list[str] | None:
    if not (unit.startswith("renyi(") and unit.endswith(")")):
        return None
    parts = unit.removeprefix("renyi(").removesuffix(")").split(", ")
    return [part.rpartition("=")[2] for part in parts] if len(parts) == len(_PARTS) else None
