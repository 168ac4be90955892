"""Requests that wait together; some of those who asked do not wait until the end."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from pacsklearn_service.server.answering.desk import Desk
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem
from service_house.house import STEP, House, contested_rows


def held_back(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[threading.Event, threading.Event]:
    """Whether the model was asked, and what lets it answer."""
    begun, go_on, answer = threading.Event(), threading.Event(), model.answer

    def slowly(asks: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return answer(asks)

    monkeypatch.setattr(model, "answer", slowly)
    return begun, go_on


def await_that(holds: Any) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_who_goes_away_is_not_charged_and_the_others_are_answered(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house()
    caller, rows = house.user("ann"), contested_rows(4)
    model = house.coordinator.hosted("risk")
    begun, go_on = held_back(model, monkeypatch)
    futures = [house.begin(caller, rows[:1], key="k0", body=b"0")]
    assert begun.wait(30)
    futures += [
        house.begin(caller, rows[i : i + 1], key=f"k{i}", body=b"%d" % i) for i in (1, 2, 3)
    ]
    # The first is being answered, and can no longer be called off; the second was not begun.
    assert [futures[0].cancel(), futures[1].cancel()] == [False, True]
    go_on.set()
    assert [futures[i].result(60)["charged"] for i in (0, 2, 3)] == [STEP] * 3
    assert house.spent == 3 * STEP
    assert house.ask(caller, rows[1:2], key="k1", body=b"1")["charged"] == STEP  # the key is free
    told = house.coordinator.metrics.registry.get_sample_value(
        "pacsklearn_requests_total", {"model": "risk", "outcome": "gone"}
    )
    assert told == 1.0


def test_stopping_answers_what_waits_and_ends_at_once(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house(lease=60.0)
    caller, rows = house.user("ann"), contested_rows(2)
    model = house.coordinator.hosted("risk")
    begun, go_on = held_back(model, monkeypatch)
    futures = [house.begin(caller, rows[:1], key="k0", body=b"0")]
    assert begun.wait(30)
    futures.append(house.begin(caller, rows[1:], key="k1", body=b"1"))
    stopping = threading.Thread(target=house.close)
    stopping.start()
    await_that(lambda: not house.coordinator.is_ready)
    time.sleep(0.5)  # until stop waits for the desk
    go_on.set()
    stopping.join(20)
    assert not stopping.is_alive(), "the replies of what waits need the lock that stop holds"
    assert [future.result(0)["charged"] for future in futures] == [STEP, STEP]


def test_the_lease_is_kept_until_the_last_desk_has_answered(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house(lease=3.0)
    caller, rows = house.user("ann"), contested_rows(1)
    begun, go_on = held_back(house.coordinator.hosted("risk"), monkeypatch)
    future = house.begin(caller, rows)
    assert begun.wait(30)
    stopping = threading.Thread(target=house.close)
    stopping.start()
    await_that(lambda: not house.coordinator.is_ready)
    standby: House = new_house(lease=3.0, found=False)
    time.sleep(4.0)  # longer than a lease, in which the standby asks again and again
    assert "clinic" not in standby.coordinator.database.led
    go_on.set()
    stopping.join(60)
    assert not stopping.is_alive()
    assert future.result(0)["charged"] == STEP
    assert standby.wait(60), "the lease is given back at the end"
    assert standby.ask(caller, rows)["charged"] == 0.0


def test_who_comes_after_the_end_is_told_so_and_does_not_wait(new_house: Any) -> None:
    house: House = new_house()
    caller, model = house.user("ann"), house.coordinator.hosted("risk")
    columns = model.signature.matrix(contested_rows(1))
    desk = Desk(model)
    assert desk.ask(Ask(caller, columns, key="k0")).result(60)["charged"] == STEP
    desk.close()
    for _ in range(2):  # the key is not kept by who was sent away
        with pytest.raises(Problem) as told:
            desk.ask(Ask(caller, columns, key="k1"))
        assert told.value.kind == "unavailable"
