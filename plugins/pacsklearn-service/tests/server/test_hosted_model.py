"""Nothing is answered uncharged, nothing charged twice, and nobody learns what others asked."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest
from pacsklearn_service.server.answering.records import Records
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.database import FencedError
from service_house.house import STEP, House, contested_rows

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger.high_water import HighWater
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.upkeep import verification


def test_another_callers_rows_look_fresh(house: House) -> None:
    rows = contested_rows(4)
    ann, bob = house.user("ann"), house.user("bob")
    first = house.ask(ann, rows)
    before = house.spent
    second = house.ask(bob, rows)
    assert house.spent == before  # it was paid once
    for name in ("outputs", "charged", "contested", "free", "remaining"):
        assert second[name] == first[name]


def test_what_others_have_paid_for_does_not_show_at_the_ceiling(new_house: Any) -> None:
    """With the ceiling reached, another caller's stored row is refused as a fresh one is."""
    house = new_house(ceiling=2 * STEP)
    ann, bob = house.user("ann"), house.user("bob")
    rows = contested_rows(3)
    house.ask(ann, rows[:2])
    with pytest.raises(Problem, match="data") as stored:
        house.ask(bob, rows[:1])
    with pytest.raises(Problem, match="data") as fresh:
        house.ask(bob, rows[2:])
    assert stored.value.document() == fresh.value.document()
    assert house.ask(ann, rows[:2])["charged"] == 0.0
    assert house.spent == 2 * STEP


def test_quota_is_the_callers_own(house: House) -> None:
    rows = contested_rows(3, seed=11)
    cat, dan = house.user("cat", quota=2 * STEP), house.user("dan", quota=2 * STEP)
    house.ask(cat, rows[:2])
    with pytest.raises(Problem) as refused:
        house.ask(cat, rows[2:])
    assert refused.value.kind == "quota-exhausted"
    assert house.ask(dan, rows[1:])["remaining"] == 0.0
    with pytest.raises(Problem) as unknown:
        house.ask(house.user("eva").__class__("nobody", None, frozenset({"ask"})), rows)
    assert unknown.value.kind == "not-found"


@pytest.mark.product(only=1)
@pytest.mark.parametrize(("ceiling", "left"), [(4.0, 704), (2 * STEP, 2)])
def test_the_rows_that_are_left_are_those_that_are_answered(
    new_house: Any, ceiling: float, left: int
) -> None:
    """Of the session's 0.6875 nats, or of the data set's where these are fewer."""
    house: House = new_house(ceiling=ceiling)
    ann, rows = house.user("ann"), contested_rows(3)
    model = house.coordinator.hosted("risk")
    for k in range(2):
        assert model.rows_left(house.coordinator.catalog.ledger("clinic").remaining) == left - k
        assert house.ask(ann, rows[k : k + 1])["charged"] == STEP
    assert model.rows_left(house.coordinator.catalog.ledger("clinic").remaining) == left - 2
    if left == 2:
        with pytest.raises(Problem):
            house.ask(ann, rows[2:])


def test_requests_that_arrive_together_share_a_charge(new_house: Any) -> None:
    house = new_house(ceiling=10 * STEP)
    callers = [house.user(f"u{i}") for i in range(4)]
    rows = contested_rows(16, seed=2)
    with house.coordinator.hosted("risk").at_rest():  # the desk waits
        futures = [
            house.begin(callers[i % 4], rows[i : i + 1], key=f"k{i}", body=bytes([i]))
            for i in range(16)
        ]
    errors = [future.exception(60) for future in futures]
    assert [getattr(each, "kind", "told") for each in errors].count("budget-exhausted") == 6
    told = [future.result() for future, error in zip(futures, errors, strict=True) if not error]
    assert len(told) == 10
    assert house.spent == 10 * STEP
    assert sum(each["charged"] for each in told) == 10 * STEP
    ledger = house.coordinator.catalog.ledger("clinic")
    assert len([event for event in ledger.events if event.kind == "responses"]) < 10


def test_a_key_in_use_is_a_conflict(house: House) -> None:
    ann = house.user("ann")
    model = house.coordinator.hosted("risk")
    with model.at_rest():  # the desk waits
        first = house.begin(ann, contested_rows(1, seed=5), key="busy", body=b"1")
        with pytest.raises(Problem) as refused:
            house.begin(ann, contested_rows(1, seed=5), key="busy", body=b"1")
    assert refused.value.status == 409
    assert first.result(60)["contested"] == 1


class Killed(BaseException):
    """The process ends here."""


def stand_still(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It neither stops nor gives the lease back, and holds it no longer."""

    def unreachable(*_: object, **__: object) -> None:
        raise LedgerError("the database is away")

    monkeypatch.setattr(house.coordinator.database, "take", unreachable)


def _kill(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("moment", "charged"),
    [((Responder, "charge"), 0), ((Responder, "draw"), 1), ((Records, "finish"), 1)],
)
def test_a_process_that_dies_is_taken_over(
    new_house: Any, monkeypatch: pytest.MonkeyPatch, moment: tuple[Any, str], charged: int
) -> None:
    """After the debit, after the charge and after the draw: charged once, answered once."""
    house = new_house(lease=2.0)
    ann, rows = house.user("ann"), contested_rows(3)
    house.ask(ann, rows[:1])
    model = house.coordinator.hosted("risk")
    secret_belief = model.responder.log_belief.copy()
    signature = model.signature
    ask = Ask(ann, signature.checked(signature.matrix(rows[1:]), most=9), key="k", body=b"b")
    with monkeypatch.context() as patch:
        patch.setattr(*moment, _kill)
        with pytest.raises(Killed):
            model.answer([ask])
    assert house.spent == STEP + charged * 2 * STEP
    stand_still(house, monkeypatch)
    heir = new_house(lease=2.0)
    assert heir.wait(60)
    assert heir.spent == STEP + charged * 2 * STEP
    with heir.coordinator.database.reading() as connection:
        from pacsklearn_service.server.store.quotas import Quotas

        quota = Quotas(connection, "clinic").get("user", "ann")
    assert quota is not None
    assert float(quota.spent) == heir.spent
    taken = heir.coordinator.hosted("risk")
    assert heir.n_answered == 1 + charged * 2
    assert np.array_equal(taken.responder.log_belief, secret_belief) == (not charged)
    again = heir.ask(ann, rows[1:], key="k", body=b"b")
    # What it was charged then is what the reply says, to this key and whenever it is asked.
    assert (again["charged"], again["contested"]) == (2 * STEP, 2)
    assert again["remaining"] == 1.0 - 3 * STEP
    assert heir.ask(ann, rows[1:], key="k", body=b"b") == again
    assert heir.ask(ann, rows[1:])["charged"] == 0.0
    assert heir.spent == 3 * STEP
    # The one that was thought dead can neither charge nor answer any more.
    with monkeypatch.context() as patch:
        patch.setattr("time.monotonic", lambda: 0.0)  # by its own clock the lease lasts still
        assert house.coordinator.database.is_held
        with pytest.raises(FencedError), house.coordinator.database.writing("clinic"):
            pass
        told = model.answer([Ask(ann, ask.part(slice(0, 1)))])[0]
    assert isinstance(told, Exception)


def test_who_leads_again_reads_what_was_answered_in_between(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house(lease=2.0)
    ann, rows = house.user("ann"), contested_rows(4)
    house.ask(ann, rows[:1])
    model, database = house.coordinator.hosted("risk"), house.coordinator.database
    take = database.take
    stand_still(house, monkeypatch)
    heir: House = new_house(lease=2.0)
    assert heir.wait(60)
    told = heir.ask(ann, rows[:3])["outputs"]["predict"]
    heir.close()
    # It goes on, with the session of before: nothing may be written of what that has learned.
    assert "clinic" in take("again", 60.0)
    signature = model.signature
    ask = Ask(ann, signature.checked(signature.matrix(rows), most=9))
    free = Ask(ann, signature.checked(signature.matrix(rows[:1] + 50.0), most=9))
    assert isinstance(model.answer([free])[0], Problem)
    reply = model.answer([ask])[0]
    assert isinstance(reply, dict)
    assert (reply["outputs"]["predict"][:3], reply["charged"]) == (told, STEP)
    assert house.spent == 4 * STEP


def _stated_alone(patch: pytest.MonkeyPatch, house: House, ask: Any) -> None:
    """The process ends when a charge is in the high-water file, and before it is committed."""
    write = HighWater.write

    def killed(*args: Any) -> None:
        write(*args)
        raise Killed

    with patch.context() as own:
        own.setattr(HighWater, "write", killed)
        with pytest.raises(Killed):
            house.coordinator.hosted("risk").answer([ask])


def _charged_late(patch: pytest.MonkeyPatch, house: House, ask: Any) -> None:
    """The process stands still before a charge, which is made while its heir takes over."""
    plans: list[Any] = []
    charge, is_ahead_of = Responder.charge, verification.is_ahead_of

    def stopped(responder: Responder, plan: Any) -> None:
        plans.append(lambda: charge(responder, plan))
        raise Killed

    def late(*args: Any) -> bool:
        if plans:
            plans.pop()()
        return is_ahead_of(*args)

    with patch.context() as own:
        own.setattr(Responder, "charge", stopped)
        with pytest.raises(Killed):
            house.coordinator.hosted("risk").answer([ask])
    patch.setattr(verification, "is_ahead_of", late)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("charge", [_stated_alone, _charged_late])
def test_a_charge_that_shows_while_the_session_is_resumed(
    new_house: Any, monkeypatch: pytest.MonkeyPatch, charge: Any
) -> None:
    """The heir has not counted it, and its number is taken: charged once, answered once."""
    house = new_house(lease=2.0)
    ann, rows = house.user("ann"), contested_rows(3)
    house.ask(ann, rows[:1])
    signature = house.coordinator.hosted("risk").signature
    columns = signature.checked(signature.matrix(rows[1:]), most=9)
    charge(monkeypatch, house, Ask(ann, columns, key="k", body=b"b"))
    assert house.spent == STEP
    stand_still(house, monkeypatch)
    heir = new_house(lease=2.0)
    assert heir.wait(60)
    assert (heir.spent, heir.n_answered) == (3 * STEP, 3)
    assert heir.ask(ann, rows[1:], key="k", body=b"b")["charged"] == 2 * STEP
    assert heir.ask(ann, rows)["charged"] == 0.0
    assert heir.spent == 3 * STEP


def named_by_answers(house: House, seed: int, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Candidates that say the same as the answers to some rows, which hold no noise."""
    rows = 20 * contested_rows(300, seed=seed)
    responder = house.coordinator.hosted("risk").responder
    with monkeypatch.context() as patch:
        patch.setattr(NoisePool, "take", lambda _, n: np.zeros(n, dtype=np.int64))
        told = house.ask(house.user("eve"), rows)["outputs"]["predict"]
    agree = responder.predictions(responder.models.checked(rows)) == np.asarray(told)[:, None]
    return {*np.flatnonzero(agree.all(axis=0)).tolist()}


def test_restart_gives_the_same_answers(new_house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    house = new_house()
    ann, rows = house.user("ann"), contested_rows(20, seed=3)
    told = house.ask(ann, rows)
    assert house.spent == 20 * STEP
    named = named_by_answers(house, 4, monkeypatch)
    assert len(named) < 4  # of 16: subsets may make models that are alike
    spent = house.spent
    belief = house.coordinator.hosted("risk").responder.log_belief
    house.close()
    heir = new_house()
    assert heir.ask(ann, rows)["outputs"] == told["outputs"]
    assert np.array_equal(heir.coordinator.hosted("risk").responder.log_belief, belief)
    assert heir.spent == spent
    assert named_by_answers(heir, 5, monkeypatch) & named


def test_another_coordinator_leads_the_data_set(new_house: Any) -> None:
    house = new_house()
    other = new_house(found=False)
    assert other.is_ready(60)
    with pytest.raises(Problem) as refused:
        other.coordinator.hosted("risk")
    assert refused.value.kind == "elsewhere"
    # Where the other one is reached is nobody's business.
    shown = {"authorization": f"Bearer {house.key('bob')}"}
    told = other.call("GET", "/v2/models/risk/ready", headers=shown)
    assert (told.status_code, told.json().keys() & {"url", "curator_url"}) == (503, set())
    house.close()
    assert other.wait(60)
    assert other.coordinator.hosted("risk").name == "risk"


def test_nothing_private_is_readable_in_the_database(new_house: Any) -> None:
    house = new_house()
    rows = np.asarray([[0.0123456789, 0.0, 0.0, 0.0]])
    house.ask(house.user("ann"), rows, key="k", body=b"the body")
    path = house.address.removeprefix("sqlite:///")
    house.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with open(path, "rb") as file:  # noqa: PTH123 - the raw bytes
        content = file.read()
    for private in (rows[0, :1].tobytes(), b"0.0123456789", b"LogisticRegression\x94", b"the body",
                    house.X[0].tobytes(), b"log_belief", b"sklearn.linear_model"):  # fmt: skip
        assert private not in content
