"""From what a user writes to a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacsklearn.accounting.open_ledger import open_ledger
from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.core.ledger import MemoryLedger
from pacsklearn.exceptions import BudgetError, LedgerError


def test_nothing_is_an_account_in_memory() -> None:
    ledger = open_ledger(None, ceiling=0.5)
    assert isinstance(ledger, MemoryLedger)
    assert ledger.ceiling == 0.5


def test_a_new_account_needs_a_ceiling(uri: str, path: Path) -> None:
    with pytest.raises(BudgetError):
        open_ledger(None, ceiling=None)
    with pytest.raises(LedgerError, match="give its ceiling"):
        open_ledger(uri, ceiling=None)
    assert not path.exists()


def test_an_address_is_a_database_that_keeps_its_ceiling(uri: str) -> None:
    ledger = open_ledger(uri, ceiling=0.5)
    assert isinstance(ledger, SQLiteLedger)
    assert open_ledger(uri, ceiling=0.25) == ledger
    assert open_ledger(uri, ceiling=None).ceiling == 0.5


def test_a_ledger_is_itself(ledger: SQLiteLedger) -> None:
    for given in (ledger, MemoryLedger(1.0), ledger.reserve(0.5)):
        assert open_ledger(given, ceiling=0.1) is given


@pytest.mark.parametrize("spec", ["clinic.db", "postgresql://x", 3, Path("clinic.db")])
def test_anything_else_is_an_error(spec: object) -> None:
    with pytest.raises(LedgerError, match="ledger must be None, an address"):
        open_ledger(spec, ceiling=1.0)  # type: ignore[arg-type]
