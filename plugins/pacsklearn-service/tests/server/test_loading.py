"""Models are looked at when a data set is taken over, and loaded when somebody asks them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import Recipe
from service_house.house import STEP, House, contested_rows


@pytest.mark.parametrize("moment", ["_stored", "load"])
def test_a_model_that_could_not_be_loaded_is_tried_again(
    new_house: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, moment: str
) -> None:
    """One error while a process takes over, or is first asked; then it is there."""
    house = new_house()
    ann, rows, path = house.user("ann"), contested_rows(2), "/v2/models/risk/ready"
    told = house.ask(ann, rows[:1])
    house.close()
    work, go = getattr(HostedModel, moment), threading.Event()

    def failing(model: HostedModel) -> Any:
        if not go.is_set():
            raise OSError("the disk is away for a moment")
        return work(model)

    monkeypatch.setattr(HostedModel, moment, failing)
    heir: House = new_house()
    gauge = "pacsklearn_models_missing"
    assert heir.call("GET", "/v2/health/ready").json() == {"ready": True}
    if moment == "load":  # nothing of what is stored is damaged
        with pytest.raises(OSError, match="away"):
            heir.ask(ann, rows)
        await_that(lambda: heir.call("GET", path, user="ann").status_code == 503)
    assert heir.call("GET", path, user="ann").status_code == 503
    with pytest.raises(Problem, match="not be loaded yet") as refused:
        heir.ask(ann, rows)
    assert refused.value.more["retry_after"] > 0
    assert f"{gauge} 1.0" in heir.call("GET", "/metrics", user="curator").text
    assert '"why": "OSError"' in caplog.text
    quota = {"kind": "user", "name": "ann", "ceiling": 2 * STEP}
    given = heir.call("PUT", "/v1/datasets/clinic/quotas", user="curator", json=quota)
    assert given.status_code == 409  # what the model can still bear is not known
    go.set()
    await_that(lambda: heir.call("GET", path, user="ann").status_code == 200)
    assert heir.ask(ann, rows)["outputs"]["predict"][0] == told["outputs"]["predict"][0]
    assert heir.spent == 2 * STEP
    assert f"{gauge} 0.0" in heir.call("GET", "/metrics", user="curator").text


def await_that(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_model_that_nobody_asks_is_not_loaded(new_house: Any) -> None:
    """It is looked at: what it can bear is known, and damage is told; no other is kept waiting."""
    house: House = new_house()
    for name in ("idle", "hurt"):
        recipe = {"name": name, "dataset": "clinic", "estimator": "GaussianNB", "budget": 0.5,
                  "release": {"query_budget": STEP}, "secret": {"n": 16}}  # fmt: skip
        house.coordinator.catalog.fit(Recipe(**recipe), lambda _: None)
        published = house.call("POST", f"/v1/models/{name}/publish", user="curator")
        assert published.status_code == 200, published.text
    ann, rows = house.user("ann"), contested_rows(2)
    house.ask(ann, rows[:1])
    with house.coordinator.database.writing() as connection:
        (row,) = connection.rows("service_models", name="hurt")
        altered = row["state"][:-1] + bytes([row["state"][-1] ^ 1])
        connection.update("service_models", {"state": altered}, name="hurt")
    house.close()

    def desks() -> int:
        return sum(each.name.startswith("desk") for each in threading.enumerate())

    others = desks()
    heir: House = new_house()

    def resumed() -> int:
        events = heir.coordinator.catalog.ledger("clinic").events
        return sum(event.kind == "resumed" for event in events)

    before = resumed()
    assert desks() == others
    models = heir.call("GET", "/v1/models", user="curator").json()["models"]
    assert {each["name"]: each["rows_left"] for each in models} == {
        "risk": 703, "idle": 512, "hurt": None
    }  # fmt: skip
    assert "pacsklearn_models_missing 1.0" in heir.call("GET", "/metrics", user="curator").text
    ready = {name: f"/v2/models/{name}/ready" for name in ("risk", "idle", "hurt")}
    statuses = {n: heir.call("GET", path, user="ann").status_code for n, path in ready.items()}
    assert statuses == {"risk": 200, "idle": 200, "hurt": 503}
    assert resumed() == before
    assert heir.ask(ann, rows)["charged"] == STEP
    assert resumed() == before + 1
    models = heir.call("GET", "/v1/models", user="curator").json()["models"]
    assert {each["name"]: each["rows_left"] for each in models}["risk"] == 702
