"""From what a user writes to a ledger."""

from __future__ import annotations

from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger


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
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger  # loads the database's client

    return SharedLedger(spec, dataset=dataset, unit=unit)


def close_ledgers() -> None:
    """Give up this process's connections, and forget what it has verified.

    The next use of a ledger connects and verifies anew, as a new process would.
    """
    from pacsklearn.kernel.ledger.store import forget
    from pacsklearn.kernel.ledger.writer import close_all

    close_all()
    forget()
