"""A database that is full or away for a while: nothing is charged twice, and all goes on later."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from service_house.house import STEP, House, contested_rows, v2

from tests.kernel.ledger.postgres_server import PostgresServer

_PLENTY = resource.getrlimit(resource.RLIMIT_FSIZE)


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """As on a disk that is full: what would make a file longer than that is an error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, _PLENTY[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, _PLENTY)


def until(found: Any, seconds: float = 60.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (told := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told


def test_an_answer_is_paid_once_wherever_the_disk_was_full(new_house: Any) -> None:
    """Its intent, its charge, its record: each may be the first that finds no room."""
    house: House = new_house(lease=3.0)
    rows, log = contested_rows(8, seed=31), house.settings.ledger_ends.parent / "service.db-wal"
    outcomes = set()
    house.key("ann")
    for i in range(len(rows)):
        body, key = v2(rows[i : i + 1]), {"Idempotency-Key": f"k{i}"}

        def ask(body: Any = body, key: Any = key) -> Any:
            path = "/v2/models/risk/infer"
            return house.call("POST", path, user="ann", json=body, headers=key)

        with no_file_beyond(log.stat().st_size + 3 * 4096 * i):
            outcomes.add(ask().status_code)
        until(lambda ask=ask: ask().status_code == 200)
        assert house.spent == (i + 1) * STEP
        budget = house.call("GET", "/v1/models/risk/budget", user="ann").json()
        assert budget["spent"] == (i + 1) * STEP
    assert outcomes == {200, 503}


def test_jobs_go_on_when_there_is_room_again(new_house: Any) -> None:
    house: House = new_house(lease=3.0, step=2.0**-14)
    recipe = {"name": "next", "dataset": "clinic", "estimator": "LogisticRegression",
              "budget": 0.5, "secret": {"n": 16}}  # fmt: skip
    house.key("curator", "curate")
    begun = house.call(
        "POST", "/v1/models/risk/jobs", user="ann", json=v2(contested_rows(3000, seed=32))
    ).json()
    with no_file_beyond(2**16):
        assert house.call("POST", "/v1/models", user="curator", json=recipe).status_code == 503
        until(lambda: not house.coordinator.jobs.busy)
    state = until(
        lambda: (told := house.call("GET", f"/v1/jobs/{begun['id']}", user="ann").json())["status"]
        not in ("queued", "running") and told
    )  # fmt: skip
    assert (state["status"], state["done"]) == ("done", 3000)
    # Each part is charged once. Rows are free where a candidate that alone disagreed is ruled out.
    charges = [event.charge for event in house.coordinator.catalog.ledger("clinic").events]
    assert np.count_nonzero(charges) == 3000 / 500
    assert 0 < house.spent <= house.n_answered * 2.0**-14
    # The name is free: nobody is fitting it.
    again = house.call("POST", "/v1/models", user="curator", json=recipe)
    assert again.status_code == 202
    until(lambda: not house.coordinator.jobs.busy)
    publish = "/v1/models/next/publish?overcommit=true"
    assert house.call("POST", publish, user="curator").status_code == 200


def test_a_job_that_is_begun_while_others_are_gone_on_with_is_begun_once(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house()
    jobs, database, begun = house.coordinator.jobs, house.coordinator.database, list[str]()
    house.key("ann")
    writing, run, found = database.writing, jobs._run_answers, list[threading.Thread]()

    @contextmanager
    def observed(dataset: str = "", token: int | None = None) -> Iterator[Any]:
        with writing(dataset, token) as connection:
            yield connection
        if dataset and not found:  # the job can be found, and is not at work yet
            found.append(threading.Thread(target=jobs.resume, args=("clinic",)))
            found[0].start()
            found[0].join(0.5)

    monkeypatch.setattr(database, "writing", observed)
    monkeypatch.setattr(jobs, "_run_answers", lambda id_, *own: (begun.append(id_), run(id_, *own)))
    path, body = "/v1/models/risk/jobs", v2(contested_rows(2, seed=33))
    made = house.call("POST", path, user="ann", json=body).json()
    found[0].join()
    until(lambda: not jobs.busy)
    assert begun == [made["id"]]


def test_a_server_that_is_lost_during_a_takeover(
    server: PostgresServer, new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, lost = server.database(), threading.Event()
    house: House = new_house(address=address)
    ann, rows = house.user("ann"), contested_rows(1)
    told = house.ask(ann, rows)
    house.close()
    warm_up = "pacsklearn_service.server.answering.coordinator.warm_up"
    monkeypatch.setattr(warm_up, lambda: lost.wait(60))
    heir: House = new_house(address=address, found=False)
    until(lambda: heir.coordinator.database.is_held)
    server.kill()
    lost.set()
    time.sleep(2.0)
    server.start()
    # Nobody else takes over what is led: its holder loads it as soon as there is a server.
    assert heir.wait(60)
    assert heir.ask(ann, rows) == told | {"charged": 0.0, "contested": 0, "free": 1}
