"""Replies under an idempotency key: the same one for a day, and then none."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pacsklearn_service.server.problem import Problem
from service_house.house import House, contested_rows


def kept(house: House) -> int:
    with house.coordinator.database.reading() as connection:
        return len(connection.ask("SELECT key FROM service_requests"))


def test_replies_are_forgotten_when_their_time_is_over(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacsklearn_service.server.answering.coordinator._FORGET_SECONDS", 0.0)
    house: House = new_house(lease=10.0)
    caller, rows = house.user("ann"), contested_rows(2)
    reply = house.ask(caller, rows[:1], key="k", body=b"one")
    house.coordinator.forget_old()
    assert kept(house) == 1
    assert house.ask(caller, rows[:1], key="k", body=b"one") == reply
    with pytest.raises(Problem, match="another request"):
        house.ask(caller, rows[1:], key="k", body=b"two")
    at_once = house.settings.model_copy(update={"keep_replies": 0.0})
    monkeypatch.setattr(house.coordinator, "settings", at_once)
    deadline = time.monotonic() + 60
    while kept(house):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # The row is the caller's own from then on, and free.
    again = house.ask(caller, rows[:1], key="k", body=b"two")
    assert (again["outputs"], again["charged"]) == (reply["outputs"], 0.0)
