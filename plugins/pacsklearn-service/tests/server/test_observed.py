"""What an operator sees of a service: logs, latencies, and tables larger than a request."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_house.house import House, contested_rows, v2
from service_house.live import Live, patience, wait_until_asleep

from tests.kernel.ledger.postgres_server import PostgresServer

INFER = "/v2/models/risk/infer"


def test_each_request_is_a_line_with_its_time_and_its_own_id(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="pacsklearn_service"):
        rows = contested_rows(1, seed=31)
        told = house.call("POST", INFER, user="ann", json=v2(rows),
                          headers={"x-request-id": "visit-7"})  # fmt: skip
        other = house.call("GET", "/v1/models", user="ann", headers={"x-request-id": "a\tb"})
    assert told.headers["x-request-id"] == "visit-7"
    assert "x-request-id" not in other.headers
    own_records = [each for each in caplog.records if each.name == "pacsklearn_service"]
    lines = [json.loads(each.message) for each in own_records]
    (own,) = [each for each in lines if each.get("request") == "visit-7"]
    assert (own["method"], own["path"], own["status"]) == ("POST", INFER, 200)
    assert 0 < own["seconds"] < 240
    assert own["timestamp"].endswith("Z")
    assert repr(float(rows[0, 0])) not in caplog.text


def test_latencies_are_among_the_metrics(house: House) -> None:
    house.call("POST", INFER, user="ann", json=v2(contested_rows(1, seed=32)))
    text = house.call("GET", "/metrics", user="curator").text
    (line,) = [each for each in text.splitlines() if "request_seconds_count" in each]
    assert 'model="risk"' in line
    assert float(line.split()[-1]) >= 1


def test_a_table_may_be_larger_than_a_request(new_house: Any) -> None:
    house: House = new_house(most_bytes=10_000, most_table_bytes=100_000)

    def register(name: str, n: int, user: str = "curator") -> int:
        body = b"a,b,y\n" + b"1.5,2026-01-01,0\n2.5,true,1\n" * n
        told = house.call("POST", "/v1/datasets", user=user, content=body,
                          params={"name": name, "target": "y", "ceiling": 1.0},
                          headers={"content-type": "text/csv"})  # fmt: skip
        return int(told.status_code)

    assert register("large", 1000) == 201
    assert register("larger", 10_000) == 413
    assert house.call("POST", INFER, user="ann", json=v2(contested_rows(300))).status_code == 413
    facts = house.call("GET", "/v1/datasets/large", user="curator").json()
    assert facts["rows"] == 2000
    assert [each["kind"] for each in facts["signature"]] == ["number", "text"]


@pytest.mark.soak  # beside a file, test_server.py kills one in every run
def test_a_leader_that_stands_still_is_replaced_on_a_server(
    server: PostgresServer, tmp_path: Path
) -> None:
    key, address = bytes(range(32)), server.database()
    (tmp_path / "service.key").write_bytes(key)
    (tmp_path / "service.key").chmod(0o600)
    house = House(tmp_path, key, address=address)
    shown = house.key("ann")
    house.close()
    ends = str(tmp_path / "high-water")
    leader = Live(tmp_path, address=address, high_water=ends)
    ports, standby = (leader.port, leader.curator_port), None
    try:
        leader.wait()
        standby = Live(tmp_path, address=address, ports=ports, high_water=ends)
        standby.wait_for("ready to take over")
        wait_until_asleep(standby)
        stopped = time.monotonic()
        for process in (leader.process.pid, *leader.workers()):
            os.kill(process, signal.SIGSTOP)
        standby.wait(180)
        seconds = time.monotonic() - stopped
        told = httpx.post(f"{standby.url}{INFER}", json=v2(contested_rows(1)), timeout=120,
                          headers={"authorization": f"Bearer {shown}"})  # fmt: skip
        assert told.status_code == 200
        logging.getLogger(__name__).info("replaced after %.1f s", seconds)
        assert seconds < patience()
    finally:
        for each in (leader, standby):
            if each is not None:
                each.close()
