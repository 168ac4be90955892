"""From what a user writes to a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacsklearn.exceptions import BudgetError, LedgerError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.plugins import Registry
from pacsklearn.universe.open_ledger import open_ledger


def test_nothing_is_an_account_in_memory() -> None:
    ledger = open_ledger(None, ceiling=0.5)
    assert isinstance(ledger, MemoryLedger)
    assert ledger.ceiling == 0.5


def test_a_new_account_needs_a_ceiling(uri: str, path: Path) -> None:
    with pytest.raises(BudgetError):
        open_ledger(None, ceiling=None)
    for ceiling in (None, 0.5):
        with pytest.raises(LedgerError, match="ledger"):
            open_ledger(uri, ceiling=ceiling)
    assert not path.exists()


def test_an_address_is_a_database_that_keeps_its_ceiling(uri: str) -> None:
    ledger = SharedLedger.found(uri, 0.5, per_user=0.125)
    with pytest.raises(LedgerError, match=r"'others' \(it has 'default': .*dataset=.*; found it"):
        SharedLedger(uri, dataset="others")
    assert isinstance(ledger, SharedLedger)
    assert open_ledger(uri, ceiling=0.25) == ledger
    assert open_ledger(uri, ceiling=None, unit=None).ceiling == 0.5


def test_a_ledger_is_itself(ledger: SharedLedger) -> None:
    for given in (ledger, MemoryLedger(1.0), ledger.reserve(0.5)):
        assert open_ledger(given, ceiling=0.1) is given


@pytest.mark.parametrize("spec", ["clinic.db", "mysql://x", 3, Path("clinic.db")])
def test_anything_else_is_an_error(spec: object) -> None:
    with pytest.raises(LedgerError, match="ledger"):
        open_ledger(spec, ceiling=1.0)  # type: ignore[arg-type]


def test_a_server_without_its_distribution_is_refused_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PACSKLEARN_PLUGINS", "")
    monkeypatch.setattr("pacsklearn.kernel.plugins.registry._REGISTRY", Registry())
    for call in (SharedLedger, lambda uri: SharedLedger.found(uri, 1.0)):
        with pytest.raises(LedgerError, match=r"\./plugins/pacsklearn-postgres") as caught:
            call("postgresql://owner:se-cret@nowhere.invalid/x")
        assert "se-cret" not in str(caught.value)
