"""Long batches: what of them was paid for, and how many a user keeps."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.web import private_plane
from service_house.house import STEP, House, contested_rows, v2

JOBS = "/v1/models/risk/jobs"


def ended(house: House, begun: dict[str, Any]) -> dict[str, Any]:
    until = time.monotonic() + 60
    while begun["status"] in ("queued", "running"):
        assert time.monotonic() < until
        time.sleep(0.02)
        begun = house.call("GET", f"/v1/jobs/{begun['id']}", user="joe").json()
    return begun


def test_a_job_that_ends_halfway_says_what_was_answered(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacsklearn_service.server.answering.jobs._PART", 2)
    rows, before = contested_rows(6, seed=41), house.spent
    begun = house.call("POST", JOBS, user="joe", json=v2(rows, max_charge=3 * STEP)).json()
    state = ended(house, begun)
    assert (state["status"], state["done"]) == ("failed", 2)
    assert house.spent - before == 2 * STEP
    assert state["detail"].startswith("The first 2 rows are answered")


def test_the_answers_of_a_deleted_model_are_not_bought_of_another(house: House) -> None:
    rows = contested_rows(4, seed=42)
    recipe = {"name": "brief", "dataset": "clinic", "estimator": "LogisticRegression",
              "budget": 0.5, "secret": {"n": 16}, "release": {"query_budget": STEP}}  # fmt: skip

    def publish() -> None:
        house.coordinator.catalog.fit(Recipe(**recipe), lambda _: None)
        path = "/v1/models/brief/publish?overcommit=true"
        assert house.call("POST", path, user="curator").is_success

    publish()
    begun = house.call("POST", "/v1/models/brief/jobs", user="joe", json=v2(rows)).json()
    result = f"/v1/jobs/{ended(house, begun)['id']}/result"
    assert len(house.call("GET", result, user="joe").json()["outputs"]["predict"]) == 4
    assert house.call("POST", "/v1/models/brief/withdraw", user="curator").is_success
    assert house.call("DELETE", "/v1/models/brief", user="curator").is_success
    assert house.call("GET", result, user="joe").status_code == 404
    publish()
    spent = house.spent
    refused = house.call("GET", result, user="joe")
    assert (refused.status_code, "was deleted" in refused.json()["detail"]) == (404, True)
    assert house.spent == spent


def test_jobs_that_are_begun_at_once_are_all_counted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = ServiceDatabase.writing

    def slow(*which: Any) -> Any:
        time.sleep(0.02)
        return writing(*which)

    house.key("max")
    monkeypatch.setattr(ServiceDatabase, "writing", slow)
    body = v2(contested_rows(1, seed=43))
    with ThreadPoolExecutor(8) as pool:
        begun = [pool.submit(house.call, "POST", JOBS, user="max", json=body) for _ in range(30)]
        states = sorted(each.result().status_code for each in begun)
    assert states == [202] * house.coordinator.settings.most_jobs + [429] * 10


def test_a_job_is_not_begun_with_another_model_than_its_rows_were_read_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = private_plane.read_rows

    async def read_slowly(*asked: Any) -> Any:
        rows = await read(*asked)
        house.coordinator.unload("risk")
        house.coordinator.load("risk")
        return rows

    monkeypatch.setattr(private_plane, "read_rows", read_slowly)
    spent = house.spent
    refused = house.call("POST", JOBS, user="joe", json=v2(contested_rows(2, seed=44)))
    assert (refused.status_code, "just loaded" in refused.json()["detail"]) == (503, True)
    assert house.spent == spent
