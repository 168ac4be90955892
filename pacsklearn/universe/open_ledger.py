"""From what a user writes to a ledger."""

from __future__ import annotations

from typing import Any, final

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger


@final
class _WithPassword(str):
    """An address whose password no display of an estimator's parameters shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(without_password(str(self)))


def as_parameter(ledger: Any) -> Any:
    """Return what a user gives as ``ledger=``, for an estimator to keep."""
    is_open = type(ledger) is str and without_password(ledger) != ledger
    return _WithPassword(ledger) if is_open else ledger


def open_ledger(
    spec: str | Ledger | None,
    *,
    ceiling: float | None,
    unit: str | None = "nats",
    dataset: str = "default",
) -> Ledger:
    """Return the ledger that ``spec`` names.

    Parameters
    ----------
    spec : None, str or Ledger
        None for a new account in memory, ``"sqlite:///path"`` or ``"postgresql://..."`` for one in
        a database, a ledger for itself.
    ceiling : float, optional
        Ceiling of a new account in memory; a ledger in a database was founded with its own.
    unit : str or None, default="nats"
        What an account that is named by an address must count; None for whatever it counts.
    dataset : str, default="default"
        Data set within the database.

    Raises
    ------
    BudgetError
        When a new account is given no ceiling.
    LedgerError
        When ``spec`` is something else, or there is no ledger: found one first.
    """
    if spec is None:
        stated = () if unit is None else (unit,)
        return MemoryLedger(ceiling, *stated)  # type: ignore[arg-type] # its check explains
    if isinstance(spec, Ledger):
        return spec
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger  # loads the database's client

    return SharedLedger(spec, dataset=dataset, unit=unit)


def open_shared(ledger: str | Ledger | None) -> Ledger | None:
    """Return the ledger of nats that a user named, or None.

    Raises
    ------
    LedgerMismatchError
        When it counts something else.
    """
    if ledger is None:
        return None
    opened = open_ledger(ledger, ceiling=None)
    if opened.unit != "nats":
        raise LedgerMismatchError(
            f"ledger counts {opened.unit}, and releases are charged in nats, under a cap as well; "
            "name a ledger of nats."
        )
    return opened
