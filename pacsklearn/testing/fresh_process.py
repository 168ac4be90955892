"""What a process knows of ledgers, given up."""

from __future__ import annotations

from pacsklearn.kernel.ledger.store import forget
from pacsklearn.kernel.ledger.writer import close_all


def close_ledgers() -> None:
    """Give up this process's connections, and forget what it has verified.

    The next use of a ledger connects and verifies anew, as a new process would.
    """
    close_all()
    forget()
