"""Whatever an ordinary call is given, the ledger stays readable for everybody else."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, PacsklearnError
from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.repair import repair
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]

_NUMBERS = st.one_of(
    st.sampled_from(
        [0, -0.0, 1, True, None, 10**400, -(10**400), Fraction(1, 8), "1", b"1", 2**63]
    ),
    st.floats(width=32),
    st.floats(min_value=0, max_value=0.01),
    st.floats(min_value=0, max_value=2**-6, width=32).map(np.float32),
    st.integers(-2, 2**70),
    st.integers(0, 5).map(np.int64),
    st.booleans().map(np.bool_),
)
_TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["", 2026, None, b"x", "\0", "\ud800", "7", np.str_("n"), 1.0]),
    # hypothesis warns of strategies whose names are long
    st.just(5000).map("x".__mul__),
    st.characters().map(lambda character: character + "/closed"),
)
_PLUGINS = st.one_of(
    st.just(()),
    st.sampled_from([[], None, ("plugin",), 3]),
    st.tuples(st.builds(lambda name: (name,) * 4, _TEXTS)),
)
_EVENT = {
    "kind": _TEXTS,
    "charge": _NUMBERS,
    "unit": _TEXTS,
    "backend": _TEXTS,
    "bound": _NUMBERS,
    "n_candidates": _NUMBERS,
    "n_outputs": _NUMBERS,
    "n_noisy": _NUMBERS,
    "provenance": _PLUGINS,
    "confidence": _NUMBERS,
    "key": _TEXTS,
}
# One argument at a time is odd in most events: with all of them odd nothing gets past the first.
_ODD_EVENTS = st.one_of(
    *(strategy.map(lambda value, name=name: {name: value}) for name, strategy in _EVENT.items()),
    st.fixed_dictionaries({}, optional=_EVENT),
)
_CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("charge"), _ODD_EVENTS),
        st.tuples(st.just("reserve"), st.tuples(_NUMBERS, _TEXTS)),
        st.tuples(st.just("allows"), _NUMBERS),
    ),
    min_size=1,
    max_size=6,
)


def make(changes: dict[str, Any]) -> Event:
    facts: dict[str, Any] = {
        "kind": "responses",
        "charge": 0.001,
        "unit": "nats",
        "backend": "logdet",
        "bound": 0.001,
        "n_candidates": 8,
        "n_outputs": 5,
        "n_noisy": 4,
    } | changes
    if isinstance(facts.get("provenance"), tuple):
        facts["provenance"] = tuple(
            Provenance(*plugin) if isinstance(plugin, tuple) else plugin
            for plugin in facts["provenance"]
        )
    return LatticeNoise(**facts)


def read_elsewhere(uri: str, dataset: str = "default") -> SharedLedger:
    close_ledgers()  # a new process knows nothing of this one
    found = SharedLedger(uri, dataset=dataset, unit=None)
    verify_ledger(found)
    return found


@settings(max_examples=30)
@given(_CALLS, st.one_of(st.just("default"), _TEXTS), st.one_of(st.just("nats"), _TEXTS))
def test_no_call_makes_a_ledger_unreadable(
    calls: list[tuple[str, Any]], dataset: Any, unit: Any
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/l.db"
        accounts: list[Any] = []
        with suppress(PacsklearnError):
            accounts.append(SharedLedger.found(uri, 1.0, dataset=dataset, unit=unit))
        with suppress(PacsklearnError):
            accounts.append(MemoryLedger(1.0, unit))
        for call, argument in calls:
            outcomes = set()
            for account in accounts:
                try:
                    if call == "charge":
                        event = make({"unit": account.unit, "key": "same"} | argument)
                        outcomes.add(("charge", account.charge(event)))
                        assert event in account.events
                    elif call == "reserve":
                        account.reserve(argument[0], note=argument[1]).charge(
                            make({"unit": account.unit})
                        )
                    else:
                        outcomes.add(("allows", account.allows(argument)))
                except PacsklearnError as error:
                    outcomes.add(("error", type(error).__name__))
            assert len(outcomes) <= 1, "memory and database disagree"
        for account in accounts:
            if isinstance(account, SharedLedger):
                found = read_elsewhere(uri, account.dataset)
                assert found.events == account.events
                assert found.unit == account.unit
        close_ledgers()


class TestTheCallsThatDestroyedLedgers:
    """Each made every later reader fail with LedgerCorruptedError."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"key": 7},
            {"kind": 7},
            {"key": b"x"},
            {"charge": True},
            {"charge": np.bool_(True)},
            {"n_outputs": True},
            {"n_outputs": 2.0},
            {"n_outputs": -1},
            {"confidence": "1"},
            {"provenance": "logdet"},
            {"charge": 10**400},
            {"key": "\ud800"},
            {"key": "a\0b"},
            {"key": "x" * 1001},
        ],
    )
    def test_refused_on_the_way_in(self, changes: dict[str, Any]) -> None:
        (name,) = changes
        with pytest.raises(LedgerError, match=name):
            make(changes)

    @pytest.mark.parametrize("note", [2026, None, b"x", "\0", "x" * 100_001])
    def test_a_note_is_a_text(self, ledger: SharedLedger, uri: str, note: Any) -> None:
        for account in (ledger, MemoryLedger(1.0)):
            with pytest.raises(LedgerError, match="note"):
                account.reserve(0.25, note=note)
        assert read_elsewhere(uri).spent == 0

    def test_numbers_become_pythons_own(
        self, ledger: SharedLedger, uri: str, make_event: MakeEvent
    ) -> None:
        event = make_event(np.float32(0.5), bound=-0.0, n_outputs=np.int64(3), confidence=1)
        assert [type(event.charge), type(event.bound), type(event.n_outputs)] == [float, float, int]
        assert str(event.bound) == "0.0"
        ledger.charge(event)
        ledger.charge(make_event(-0.0))
        ledger.reserve(np.float64(0.125), note=np.str_("numpy"))
        found = read_elsewhere(uri)
        assert found.events == ledger.events
        assert found.spent == 0.625

    def test_a_row_is_kept_as_it_was_written(
        self, ledger: SharedLedger, uri: str, make_event: MakeEvent
    ) -> None:
        event = make_event(1.0)
        vars(event)["charge"] = 1  # which a column of doubles gives back as 1.0
        ledger.charge(event)
        (found,) = read_elsewhere(uri).events
        assert type(found.charge) is int

    def test_a_user_does_not_take_the_key_of_a_closing(
        self, ledger: SharedLedger, make_event: MakeEvent
    ) -> None:
        reservation = ledger.reserve(0.5)
        reserved = ledger.events[-1].key
        for end in ("closed", "returned"):
            for account in (ledger, MemoryLedger(1.0)):
                with pytest.raises(LedgerError, match="closed"):
                    account.charge(make_event(0.0, key=f"{reserved}/{end}"))
        assert reservation.release_unspent() == 0.5


class TestRepair:
    @pytest.fixture
    def damaged(self, ledger: SharedLedger, path: Path, make_event: MakeEvent) -> SharedLedger:
        """Three good rows, and two that hold what the first version wrote for note=2026."""
        ledger.charge(make_event(0.125, key="one"))
        reservation = ledger.reserve(0.25, note="open")
        reservation.charge(make_event(0.0625, key="two"))
        close_ledgers()
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            for number, key, source in ((4, "three", 1), (5, "four", 3)):
                raw.execute(
                    f"INSERT INTO log SELECT dataset, {number}, '{key}', replace(line, "  # noqa: S608
                    f"'\"number\":{source}', '\"number\":{number}') FROM log "
                    f"WHERE number = {source}"
                )
        return ledger

    def test_the_tail_is_set_aside_and_charged(
        self, damaged: SharedLedger, path: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(LedgerCorruptedError, match="row 4"):
            verify_ledger(damaged)
        before = path.read_bytes()
        target = tmp_path / "repaired.db"
        report = repair(path, target, signed_by="A. Curator", reason="a note that was a number")
        assert (report["default"]["kept"], report["default"]["set_aside"]) == (3, 2)
        # The last rows are damaged, and so may be the sums that they state.
        assert "all that was left" in report["default"]["assumed"]
        assert path.read_bytes() == before
        found = read_elsewhere(f"sqlite:///{target}")
        assert found.remaining == 0
        assert [event.kind for event in found.events][-1] == "repair"
        (reservation,) = found.reservations
        assert reservation.remaining == 0
        verify_ledger(found)
        aside = json.loads(Path(f"{target}.aside.json").read_text())
        assert [row["key"] for row in aside["rows"]] == ["three", "four"]
        assert aside["signed_by"] == "A. Curator"
        with closing(sqlite3.connect(target)) as raw:
            (line,) = raw.execute("SELECT line FROM log WHERE number = 4").fetchone()
        assert "A. Curator: a note that was a number; SHA-256" in json.loads(line)["note"]

    def test_an_amount_that_cannot_be_read_takes_all_that_is_left(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent, tmp_path: Path
    ) -> None:
        ledger.charge(make_event(0.125, key="one"))
        ledger.charge(make_event(0.125, key="two"))
        close_ledgers()
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("DROP TRIGGER log_no_update")
            raw.execute("UPDATE log SET line = 'much' WHERE number = 2")
            raw.execute("VACUUM")
        target = tmp_path / "repaired.db"
        repair(path, target, signed_by="A. Curator", reason="unreadable")
        assert read_elsewhere(f"sqlite:///{target}").remaining == 0

    @pytest.mark.parametrize("inside", [0.25, 0.0])
    def test_no_reservation_gives_back_what_a_lost_row_may_have_charged(
        self,
        inside: float,
        ledger: SharedLedger,
        path: Path,
        make_event: MakeEvent,
        tmp_path: Path,
    ) -> None:
        """Lost is its charge, or its closing; rows after it state the ledger's sum alone."""
        reservation = ledger.reserve(0.5, note="search")
        if inside:
            reservation.charge(make_event(inside, key="inside"))
        else:
            reservation.release_unspent()
        number = ledger.position.sequence
        ledger.charge(make_event(0.25, key="after"))
        close_ledgers()
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("PRAGMA secure_delete = ON")
            raw.execute("DROP TRIGGER log_no_delete")
            raw.execute("DELETE FROM log WHERE number BETWEEN 2 AND ?", (number,))
            raw.execute("VACUUM")
        target = tmp_path / "repaired.db"
        repair(path, target, signed_by="A. Curator", reason="a lost row")
        found = SharedLedger(f"sqlite:///{target}")
        for each in found.reservations:
            each.release_unspent()
        assert found.spent >= 0.25 + inside
        verify_ledger(found)

    def test_a_sound_ledger_is_left_alone(
        self, ledger: SharedLedger, path: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(LedgerError, match="repair"):
            repair(path, tmp_path / "new.db", signed_by="A", reason="B")
        assert not (tmp_path / "new.db").exists()

    @pytest.mark.parametrize(("signed_by", "reason"), [("", "why"), ("who", " ")])
    def test_it_is_signed(self, damaged: Any, path: Path, signed_by: str, reason: str) -> None:
        with pytest.raises(LedgerError, match="answers"):
            repair(path, path.with_name("new.db"), signed_by=signed_by, reason=reason)

    def test_no_file_is_replaced(self, damaged: SharedLedger, path: Path) -> None:
        with pytest.raises(LedgerError, match="already"):
            repair(path, path, signed_by="A", reason="B")
