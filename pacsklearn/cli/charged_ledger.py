"""The ledger that options name, and whose charge it is."""

from __future__ import annotations

from pacsklearn.core.ledger_interface import Ledger


def ledger_uri(address: str) -> str:
    """Address of a ledger that a user named by its file or its URL."""
    return address if "://" in address else f"sqlite:///{address}"


def charged_ledger(
    address: str | None,
    dataset: str | None,
    user: str | None,
    project: str | None,
    *,
    unit: str | None = "nats",
) -> Ledger | None:
    """Ledger that a release is charged to, on whose behalf it is said to be.

    Raises
    ------
    ValueError
        When something is said about a ledger that was not named.
    """
    if address is None:
        if (dataset, user, project) != (None, None, None):
            raise ValueError(
                "--dataset, --user and --project say whose charge to a ledger it is; name the "
                "ledger with --ledger."
            )
        return None
    from pacsklearn.accounting.open_ledger import open_ledger

    ledger = open_ledger(ledger_uri(address), ceiling=None, unit=unit, dataset=dataset or "default")
    if user is None and project is None:
        return ledger
    return ledger.on_behalf_of(user=user, project=project)
