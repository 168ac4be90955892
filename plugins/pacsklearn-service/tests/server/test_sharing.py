"""Three coordinators with addresses of their own share data sets; one dies, or stands still."""

from __future__ import annotations

import http.client
import json
import logging
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from pacsklearn_service.server.recipe import Recipe
from service_house.house import House, contested_rows, table, v2
from service_house.live import Live, patience

from pacsklearn.upkeep.verification import verify_ledger

STEP = 2.0**-12
KEY = bytes(range(32))
NAMES = [f"clinic{i}" for i in range(5)]
_LOG = logging.getLogger(__name__)


class Caller(threading.Thread):
    """Somebody who asks one data set row after row, always at the same address."""

    def __init__(self, port: int, key: str, name: str) -> None:
        super().__init__(daemon=True)
        self.name = name
        self._port, self._key, self.ended = port, key, threading.Event()
        self.told: list[tuple[Any, float]] = []
        self.latest = 0.0, 0.0  # when the last request that was answered began and ended

    def run(self) -> None:
        rows = contested_rows(4000, seed=9)
        headers = {"authorization": f"Bearer {self._key}", "content-type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        while not self.ended.wait(0.02):
            i, began = len(self.told), time.monotonic()
            try:
                connection.request("POST", f"/v2/models/{self.name}/infer",
                                   json.dumps(v2(rows[i : i + 1])),
                                   headers | {"idempotency-key": f"k{i}"})  # fmt: skip
                reply = connection.getresponse()
                told = json.loads(reply.read())
            except (OSError, http.client.HTTPException, ValueError):
                connection.close()
                continue
            if reply.status == 200:
                label = told["outputs"][0]["data"][0]
                self.told.append((label, told["parameters"]["charged"]))
                self.latest = began, time.monotonic()
            else:  # to be tried again, the service says
                assert reply.status in (409, 503), (reply.status, told)
        connection.close()


def registered(folder: Path, address: str) -> dict[str, str]:
    """Register a data set and a model for each name, and let a user and a curator in."""
    (folder / "service.key").write_bytes(KEY)
    (folder / "service.key").chmod(0o600)
    house = House(folder, KEY, address=address)
    X, y = table()
    catalog = house.coordinator.catalog
    for name in NAMES:
        columns = {f"x{i}": column for i, column in enumerate(X.T)} | {"y": y}
        catalog.add_dataset(name, columns, "y", 2.0)
        recipe = {"name": name, "dataset": name, "estimator": "LogisticRegression",
                  "budget": 0.6875, "secret": {"n": 32},
                  "release": {"query_budget": STEP}}  # fmt: skip
        catalog.fit(Recipe(**recipe), lambda _: None)
        catalog.mark(name, "published")
    keys = {"ann": house.key("ann"), "curator": house.key("curator", "curate")}
    for name in NAMES:
        told = house.call("PUT", f"/v1/datasets/{name}/quotas", user="curator",
                          json={"kind": "user", "name": "ann", "ceiling": 0.5})  # fmt: skip
        assert told.status_code == 200, told.text
    house.close()
    return keys


def led(live: Live, key: str) -> int:
    told = httpx.get(f"http://127.0.0.1:{live.curator_port}/metrics", timeout=30,
                     headers={"authorization": f"Bearer {key}"})  # fmt: skip
    found = [line for line in told.text.splitlines() if line.startswith("pacsklearn_datasets_led ")]
    return round(float(found[0].split()[1])) if found else -1


def wait_until_shared(lives: list[Live], key: str, shares: list[int]) -> None:
    deadline = time.monotonic() + 120
    while (now := sorted(led(each, key) for each in lives)) != shares:
        assert time.monotonic() < deadline, now
        time.sleep(0.1)


def wait_for_all(callers: list[Caller], at: float) -> float:
    """Seconds until everybody has had an answer to a request that began after a moment."""
    deadline = time.monotonic() + 180
    while any(each.latest[0] < at for each in callers):
        assert time.monotonic() < deadline
        assert all(each.is_alive() for each in callers)
        time.sleep(0.01)
    return max(each.latest[1] for each in callers) - at


def look_at_the_console(live: Live, key: str) -> None:
    """It prices a file for any model, and raises no alarm about those that are led elsewhere."""
    row = {"rows": ("rows.csv", "x0,x1,x2,x3\n0.01,0.02,-0.01,0.003\n")}
    with httpx.Client(base_url=f"http://127.0.0.1:{live.curator_port}/console") as browser:
        assert browser.post("/sign-in", data={"key": key}).status_code == 303
        for name in NAMES:
            told = browser.post(f"/models/{name}", data={"user": "ann"}, files=row, timeout=30)
            assert "At most 0.0002441 nats for ann" in told.text
        assert "does not answer" not in browser.get("").text


# Each takes half a minute of processor time, most of it to begin nine processes.
@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("address", ["sqlite", "postgresql"], indirect=True)
def test_one_of_three_coordinators_is_lost(address: str, new_house: Any, tmp_path: Path) -> None:
    keys = registered(tmp_path, address)
    lives: list[Live] = []
    callers: list[Caller] = []
    try:
        for _ in range(3):  # not at once: who cannot renew a lease for seconds is killed by others
            lives.append(Live(tmp_path, address=address))
            lives[-1].wait()
        # With the data set of the house itself six: two each.
        wait_until_shared(lives, keys["curator"], [2, 2, 2])
        # At the first two, which pass on what the third one leads, or the other.
        callers = [Caller(lives[i % 2].port, keys["ann"], each) for i, each in enumerate(NAMES)]
        for each in callers:
            each.start()
        wait_for_all(callers, time.monotonic())
        # What a curator does reaches the one that leads, at whatever address.
        for live in lives:
            for name in NAMES:
                told = httpx.put(
                    f"http://127.0.0.1:{live.curator_port}/v1/datasets/{name}/quotas",
                    json={"kind": "user", "name": "ann", "ceiling": 0.6}, timeout=30,
                    headers={"authorization": f"Bearer {keys['curator']}"},
                )  # fmt: skip
                assert told.status_code == 200, told.text
            look_at_the_console(live, keys["curator"])
        lost, at = lives[2], time.monotonic()
        for process in (lost.process.pid, *lost.workers()):
            os.kill(process, signal.SIGKILL if "sqlite" in address else signal.SIGSTOP)
        seconds = wait_for_all(callers, at)
        wait_until_shared(lives[:2], keys["curator"], [3, 3])
        at_all = wait_for_all(callers, time.monotonic())
        _LOG.info("replaced after %.1f s, then %.2f s", seconds, at_all)
        assert lost.process.wait(30) == -signal.SIGKILL
        lives[2] = Live(tmp_path, address=address)
        lives[2].wait()
        wait_until_shared(lives, keys["curator"], [2, 2, 2])
        wait_for_all(callers, time.monotonic())
        assert all(each.process.poll() is None for each in lives)
    finally:
        for each in callers:
            each.ended.set()
        for each in callers:
            each.join()
        for each in [*lives, lost] if "lost" in locals() else lives:
            each.close()
    audit(new_house, address, callers)
    assert seconds < patience()


def audit(new_house: Any, address: str, callers: list[Caller]) -> None:
    """Hold what was told against the ledgers, the quotas and the stored answers."""
    heir: House = new_house(key=KEY, found=False, address=address, lease=3.0)
    deadline = time.monotonic() + 120
    while not heir.coordinator.is_ready or len(heir.coordinator.answering()) <= len(NAMES):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    rows = contested_rows(4000, seed=9)
    for each in callers:
        told = len(each.told)
        assert told > 5
        assert Counter(charged for _, charged in each.told) == {STEP: told}
        # Charged once for each row that was told, and at most for the one that was waited for; not
        # for rows on which all candidates agree that the answers before have left possible.
        again = heir.call("POST", f"/v2/models/{each.name}/infer", user="ann", json=v2(rows[:told]))
        responder = heir.coordinator.hosted(each.name).responder
        assert told <= responder.n_answered <= told + 1
        assert heir.coordinator.catalog.ledger(each.name).spent == responder.n_contested * STEP
        if np.isfinite(responder.log_belief).all():
            assert responder.n_contested == responder.n_answered
        quota = heir.call("GET", f"/v1/models/{each.name}/budget", user="ann").json()
        assert quota["spent"] == responder.n_answered * STEP
        assert again.json()["outputs"][0]["data"] == [label for label, _ in each.told]
        assert again.json()["parameters"]["charged"] == 0.0
        verify_ledger(heir.coordinator.catalog.ledger(each.name))
