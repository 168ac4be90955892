"""Tables of ledgers, brought to this version by their owner."""

from __future__ import annotations

from pacsklearn.kernel.ledger.log import Log
from pacsklearn.kernel.ledger.writer import run


def upgrade(address: str) -> int:
    """Bring a database of ledgers to this version's tables; as its owner.

    Returns
    -------
    int
        Version of the tables it had.

    Raises
    ------
    LedgerError
        When there is no ledger in it.
    """

    def migrate(log: Log) -> int:
        if log.version() == 0:
            log.check_version()  # says that there is none
        return log.migrate()

    before: int = run(address, migrate)
    return before
