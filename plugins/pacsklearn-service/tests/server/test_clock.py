"""A machine whose clock is set by an hour: nothing that has ended begins again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pacsklearn_service.server.store.database import ServiceDatabase
from service_house.house import House

HOUR = 3600.0
OF = "/v1/models/risk"
SetClock = Callable[[float], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    real, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])

    def set_by(seconds: float) -> None:
        ahead[0] += seconds

    return set_by


def test_what_was_given_back_holds_nothing_again(house: House, set_clock: SetClock) -> None:
    amount = {"amount": 0.5, "seconds": 8 * HOUR}
    made = house.call("POST", f"{OF}/reservations", user="ann", json=amount).json()
    path = f"{OF}/reservations/{made['id']}"
    assert house.call("DELETE", path, user="ann").json()["returned"] == 0.5
    set_clock(-HOUR)
    assert house.call("DELETE", path, user="ann").json()["returned"] == 0.0
    assert house.call("GET", f"{OF}/budget", user="ann").json()["reserved"] == 0.0


@pytest.mark.parametrize("ended", ["revoked", "rotated"])
def test_a_key_that_was_ended_is_not_valid_again(
    house: House, set_clock: SetClock, ended: str
) -> None:
    key = house.key(ended)
    name = key.split("_")[1]

    def status() -> int:
        shown = {"authorization": f"Bearer {key}"}
        code: int = house.call("GET", OF + "/budget", headers=shown, anew=True).status_code
        return code

    assert status() == 200
    if ended == "revoked":
        assert house.call("DELETE", f"/v1/keys/{name}", user="curator").status_code == 200
    else:
        rotated = house.call("POST", f"/v1/keys/{name}/rotate", user="curator", json={"grace": 0})
        assert rotated.status_code == 201
    assert status() == 401
    set_clock(-HOUR)
    assert status() == 401


def test_a_ration_of_a_minute_is_not_one_of_an_hour(new_house: Any, set_clock: SetClock) -> None:
    house: House = new_house(previews_per_minute=2)
    replies = [house.call("GET", f"{OF}/budget", user="ann") for _ in range(3)]
    assert [each.status_code for each in replies] == [200, 200, 429]
    set_clock(-HOUR)
    refused = house.call("GET", f"{OF}/budget", user="ann")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) <= 60


def test_leases_end_as_if_nobody_had_set_the_clock(
    tmp_path: Path, set_clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = [1000.0]
    steady = SimpleNamespace(monotonic=lambda: passed[0])
    monkeypatch.setattr("pacsklearn_service.server.store.database.time", steady)
    address = f"sqlite:///{tmp_path / 'service.db'}"
    leader, heir = ServiceDatabase(address), ServiceDatabase(address)
    leader.take("leader", 600.0)
    with leader.founding("clinic"):
        pass
    ended: list[str] = []

    def take() -> dict[str, int]:
        return heir.take("heir", 600.0, lambda names: len(ended.extend(names) or ()))

    take()
    set_clock(HOUR)  # the leader is there still, and is ended by nobody
    assert take() == {}
    assert ended == []
    assert leader.take("leader", 600.0).keys() == {"clinic"}
    set_clock(-2 * HOUR)  # and now it is gone, until an hour from now by its word
    assert take() == {}
    passed[0] += 599.0
    assert take() == {}
    assert ended == []
    passed[0] += 1.0
    assert take().keys() == {"clinic"}
    assert ended == ["leader"]
    leader.close()
    heir.close()
