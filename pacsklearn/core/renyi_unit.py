"""The unit in which sliced Renyi divergences are counted."""

from __future__ import annotations

import hashlib

from pacsklearn.core.scenario import Scenario
from pacsklearn.core.slice_profile import SliceProfile
from pacsklearn.exceptions import LedgerMismatchError

__all__ = ["check_unit", "renyi_unit"]

_PARTS = ("order", "aggregation", "slice profile", "scenario")


def renyi_unit(
    *, order: float, aggregation: str, profile: SliceProfile | None, scenario: Scenario
) -> str:
    """Unit of a ledger that adds sliced Renyi divergences.

    They add up for one order, one way of aggregating, one slice profile and one scenario (srpp,
    Theorem 5.8). All four are in the unit, and a ledger refuses events of another unit.

    Parameters
    ----------
    order : float
        Renyi order.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``; or another way, named in full.
    profile : SliceProfile or None
        None for divergences of the whole release.
    scenario : Scenario

    Returns
    -------
    str
    """
    secret = hashlib.sha256(scenario.description.encode()).hexdigest()[:12]
    slices = "none" if profile is None or aggregation == "full" else profile.digest
    return f"renyi(order={order:.12g}, {aggregation}, slices={slices}, scenario={secret})"


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
