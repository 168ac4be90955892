"""From what a user writes to a ledger."""

from __future__ import annotations

from typing import Any, Final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.ledger.log import without_password

_POSTGRES: Final = ("postgresql:", "postgresql+psycopg:")


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
        if unit is None:
            return MemoryLedger(ceiling)  # type: ignore[arg-type] # its check explains
        return MemoryLedger(ceiling, unit)  # type: ignore[arg-type] # a missing ceiling
    if isinstance(spec, Ledger):
        return spec
    ledger: Ledger = _kind(spec)(spec, dataset=dataset, unit=unit)
    return ledger


def found_ledger(address: str, ceiling: float, **terms: Any) -> Ledger:
    """Found the ledger of a data set in the database that an address names.

    Parameters
    ----------
    address : str
        ``"sqlite:///path"`` or ``"postgresql://..."``.
    ceiling : float
    **terms
        ``dataset``, ``unit``, ``per_user``, ``per_project`` and ``high_water``, as
        :meth:`~pacsklearn.kernel.ledger.shared_ledger.SharedLedger.found` takes them.

    Raises
    ------
    LedgerError
        When the data set has a ledger already.
    """
    ledger: Ledger = _kind(address).found(address, ceiling, **terms)
    return ledger


def database_address(address: str) -> str:
    """Address of a database as its connections are kept by.

    Raises
    ------
    LedgerError
        When it is none.
    """
    own_address: str = _kind(address).database_address(address)
    return own_address


def close_ledgers() -> None:
    """Give up this process's connections, and forget what it has verified.

    The next use of a ledger connects and verifies anew, as a new process would.
    """
    from pacsklearn.kernel.ledger.store import forget
    from pacsklearn.kernel.ledger.writer import close_all

    close_all()
    forget()


def _kind(address: object) -> Any:
    if str(address).startswith("sqlite:"):
        from pacsklearn.kernel.ledger.sqlite_ledger import SQLiteLedger

        return SQLiteLedger
    if str(address).startswith(_POSTGRES):
        from pacsklearn.postgres.postgres_ledger import PostgresLedger

        return PostgresLedger
    raise LedgerError(
        "ledger must be None, an address such as 'sqlite:///clinic.db' or "
        f"'postgresql://host/database', or a ledger, got {without_password(str(address))!r}."
    )
