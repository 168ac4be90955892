"""From what a user writes to a ledger."""

from __future__ import annotations

from contextlib import suppress

from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.exceptions import LedgerError, LedgerMismatchError

__all__ = ["open_ledger"]


def open_ledger(spec: str | Ledger | None, *, ceiling: float | None, unit: str = "nats") -> Ledger:
    """Return the ledger that ``spec`` names.

    Parameters
    ----------
    spec : None, str or Ledger
        None for a new account in memory, ``"sqlite:///path"`` for one in a database (its dataset
        ``"default"``), a ledger for itself.
    ceiling : float, optional
        Ceiling of an account that does not exist yet; one that exists keeps its own.
    unit : str, default="nats"
        What an account that is named by an address counts.

    Raises
    ------
    BudgetError
        When a new account is given no ceiling.
    LedgerError
        When ``spec`` is something else, or the database cannot be opened.
    """
    if spec is None:
        return MemoryLedger(ceiling, unit)  # type: ignore[arg-type] # its check explains a missing one
    if isinstance(spec, Ledger):
        return spec
    if not str(spec).startswith("sqlite:"):
        raise LedgerError(
            "ledger must be None, an address such as 'sqlite:///clinic.db', or a ledger, got "
            f"{spec!r}."
        )
    if ceiling is None:
        return SQLiteLedger(spec, unit=unit)
    # Another process may found it in between, with another ceiling.
    with suppress(LedgerMismatchError):
        return SQLiteLedger(spec, ceiling, unit=unit)
    return SQLiteLedger(spec, unit=unit)
