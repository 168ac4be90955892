"""The account on disk: everything the one in memory does, and the same account everywhere."""

from __future__ import annotations

import copy
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    LedgerError,
    LedgerMismatchError,
)
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]


class TestCharging:
    def test_an_account(self, ledger: SharedLedger, make_event: MakeEvent) -> None:
        assert (ledger.ceiling, ledger.unit, ledger.spent, ledger.remaining) == (1, "nats", 0, 1)
        events = (make_event(0.25), make_event(0.0), make_event(0.75))
        assert all(ledger.charge(event) for event in events)
        assert ledger.events == events
        assert (ledger.spent, ledger.remaining) == (1.0, 0.0)
        assert verify_ledger(ledger) == ledger.position
        assert ledger.position.sequence == 3

    def test_what_does_not_fit_changes_nothing(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(0.75))
        before = ledger.position
        with pytest.raises(BudgetExhaustedError) as caught:
            ledger.charge(make_event(0.25 + 1e-15))
        assert (caught.value.spent, caught.value.ceiling) == (0.75, 1.0)
        assert caught.value.asked == 0.25 + 1e-15
        assert ledger.position == before
        assert ledger.charge(make_event(0.25))

    def test_small_charges_are_summed_exactly(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        for _ in range(10):
            ledger.charge(make_event(0.1))
        assert ledger.spent == 1.0
        with pytest.raises(BudgetExhaustedError):
            ledger.charge(make_event(1e-15))
        verify_ledger(ledger)

    def test_tiny_charges_do_not_vanish(self, uri: str, make_event: MakeEvent) -> None:
        # Each is below half a unit in the last place of the sum.
        ledger = SharedLedger.found(uri, ceiling=2.0)
        ledger.charge(make_event(1.0))
        for _ in range(64):
            ledger.charge(make_event(2.0**-58))
        assert ledger.spent == 1.0 + 2.0**-52

    def test_one_event_is_charged_once(self, ledger: SharedLedger, make_event: MakeEvent) -> None:
        event = make_event(0.75, key="answer 1")
        assert ledger.charge(event)
        assert not ledger.charge(event)
        assert not ledger.charge(make_event(0.75, key="answer 1"))
        assert ledger.spent == 0.75

    def test_one_key_stands_for_one_event(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(0.25, key="answer 1"))
        with pytest.raises(LedgerMismatchError, match="charged"):
            ledger.charge(make_event(0.5, key="answer 1"))
        with pytest.raises(LedgerMismatchError, match="account"):
            ledger.reserve(0.5).charge(make_event(0.25, key="answer 1"))
        assert ledger.spent == 0.75

    def test_units_are_never_added(self, ledger: SharedLedger, make_event: MakeEvent) -> None:
        with pytest.raises(LedgerMismatchError, match="counts"):
            ledger.charge(make_event(0.1, unit="renyi"))
        assert ledger.events == ()

    @pytest.mark.parametrize("charge", [-1e-9, float("nan"), float("inf")])
    def test_charges_only_go_up(
        self, ledger: SharedLedger, make_event: MakeEvent, charge: float
    ) -> None:
        with pytest.raises(ValueError, match="finite"):
            ledger.charge(make_event(charge))
        assert ledger.events == ()

    def test_numbers_of_numpy_are_numbers(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(np.float64(0.5), n_outputs=np.int64(3)))
        assert ledger.events[0].n_outputs == 3
        verify_ledger(ledger)

    def test_what_is_not_json_is_refused(self, ledger: SharedLedger, make_event: MakeEvent) -> None:
        with pytest.raises(LedgerMismatchError, match="bound"):
            ledger.charge(make_event(0.5, bound=float("nan")))
        assert ledger.spent == 0


class TestOpening:
    def test_the_ceiling_is_stored(
        self, ledger: SharedLedger, uri: str, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(0.5))
        again = SharedLedger(uri)
        assert again == ledger
        assert hash(again) == hash(ledger)
        assert (again.ceiling, again.spent, again.events) == (1.0, 0.5, ledger.events)
        assert SharedLedger(uri, 1.0) == ledger

    def test_the_ceiling_cannot_be_changed(self, ledger: SharedLedger, uri: str) -> None:
        with pytest.raises(LedgerMismatchError, match="ceiling"):
            SharedLedger(uri, ceiling=2.0)
        with pytest.raises(LedgerError, match="founded"):
            SharedLedger.found(uri, ceiling=2.0)
        assert SharedLedger(uri).ceiling == 1.0

    def test_the_unit_cannot_be_changed(self, ledger: SharedLedger, uri: str) -> None:
        for unit in ("renyi", "NATS"):
            with pytest.raises(LedgerMismatchError, match="counted"):
                SharedLedger(uri, unit=unit)

    def test_datasets_have_accounts_of_their_own(
        self, ledger: SharedLedger, uri: str, make_event: MakeEvent
    ) -> None:
        other = SharedLedger.found(uri, ceiling=2.0, dataset="other", unit="renyi")
        event = make_event(1.5, unit="renyi", key="one")
        assert other.charge(event)
        assert ledger.charge(make_event(0.5, key="one"))
        assert (ledger.spent, other.spent) == (0.5, 1.5)
        assert other != ledger
        assert (verify_ledger(other).sequence, verify_ledger(ledger).sequence) == (1, 1)

    def test_one_file_is_one_account(
        self, uri: str, path: Path, monkeypatch: pytest.MonkeyPatch, ledger: SharedLedger
    ) -> None:
        monkeypatch.chdir(path.parent)
        assert SharedLedger(f"sqlite:///{path.name}") == ledger
        (path.parent / "link.db").symlink_to(path)
        assert SharedLedger("sqlite:///link.db") == ledger

    def test_without_a_ceiling_there_must_be_one(self, uri: str, path: Path) -> None:
        for ceiling in (None, 1.0):
            with pytest.raises(LedgerError, match="ledger"):
                SharedLedger(uri, ceiling)
        assert not path.exists()
        SharedLedger.found(uri, ceiling=1.0)
        with pytest.raises(LedgerError, match="dataset"):
            SharedLedger(uri, dataset="other")

    @pytest.mark.parametrize("ceiling", [0, -1.0, float("nan"), float("inf"), "1", True])
    def test_a_ceiling_is_a_positive_number(self, uri: str, ceiling: object) -> None:
        with pytest.raises(BudgetError, match="ceiling"):
            SharedLedger.found(uri, ceiling)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "address",
        [
            "sqlite://",
            "sqlite:///",
            "sqlite:///:memory:",
            "sqlite:///x.db?mode=ro",
            "sqlite:///file:x.db",
            "x.db",
            Path("x.db"),
        ],
    )
    def test_an_address_names_a_file(self, address: str) -> None:
        with pytest.raises(LedgerError, match="address"):
            SharedLedger.found(address, ceiling=1.0)

    def test_the_folder_must_exist(self, tmp_path: Path) -> None:
        with pytest.raises(LedgerError, match="folder"):
            SharedLedger.found(f"sqlite:///{tmp_path}/missing/x.db", ceiling=1.0)

    def test_another_database_is_left_alone(self, path: Path, uri: str) -> None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE patients (name TEXT)")
        connection.close()
        with pytest.raises(LedgerMismatchError, match="holds"):
            SharedLedger.found(uri, ceiling=1.0)

    def test_a_file_that_is_no_database(self, path: Path, uri: str) -> None:
        path.write_text("patients\n" * 200)
        with pytest.raises(LedgerError, match="database"):
            SharedLedger.found(uri, ceiling=1.0)


class TestHandles:
    @pytest.mark.parametrize(
        "copied",
        [
            copy.copy,
            copy.deepcopy,
            lambda ledger: clone(ledger, safe=False),
            lambda ledger: pickle.loads(pickle.dumps(ledger)),
        ],
    )
    def test_a_copy_is_the_same_account(
        self,
        ledger: SharedLedger,
        make_event: MakeEvent,
        copied: Callable[[SharedLedger], SharedLedger],
    ) -> None:
        copied(ledger).charge(make_event(0.5))
        assert copied(ledger) == ledger
        assert ledger.spent == copied(ledger).spent == 0.5
        reservation = ledger.reserve(0.25, note="search")
        copied(reservation).charge(make_event(0.125))
        assert copied(reservation) == reservation
        assert reservation.spent == 0.125

    def test_a_pickle_holds_no_connection(self, ledger: SharedLedger, path: Path) -> None:
        text = pickle.dumps(ledger)
        assert str(path).encode() in text
        assert b"sqlite3" not in text

    def test_a_repr_asks_nothing(self, ledger: SharedLedger, path: Path) -> None:
        reservation = ledger.reserve(0.5)
        path.unlink()
        assert repr(ledger) == f"SharedLedger('sqlite:///{path}', dataset='default')"
        assert "Reservation('sqlite:///" in repr(reservation)

    def test_a_ledger_that_vanished_is_not_a_new_one(
        self, ledger: SharedLedger, path: Path, uri: str, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(0.5))
        for file in path.parent.iterdir():
            file.unlink()
        with pytest.raises(LedgerError, match="ledger"):
            ledger.charge(make_event(0.5))
        assert not path.exists()
        path.touch()
        with pytest.raises(LedgerError, match=r"is empty|replaced while"):
            ledger.charge(make_event(0.5))

        close_ledgers()  # as in another process
        with pytest.raises(LedgerError, match="empty"):
            SharedLedger.found(uri, ceiling=1.0)
        path.unlink()
        founded_anew = SharedLedger.found(uri, ceiling=1.0)
        assert founded_anew != ledger
        for charge in (ledger.charge, pickle.loads(pickle.dumps(ledger)).charge):
            with pytest.raises(LedgerMismatchError, match="hold"):
                charge(make_event(0.5))

    def test_importing_loads_no_database(self) -> None:
        code = (
            "import sys, pacsklearn, pacsklearn.universe.open_ledger\n"
            "assert 'sqlite3' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603
