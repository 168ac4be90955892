"""A ceiling under load: exactly what fits is charged, and everything granted is stored."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from pacsklearn.service.batch import Outcome
from pacsklearn.service.problem import Problem
from tests.accounting.postgres_server import PostgresServer
from tests.service.house import House, contested_rows, v2
from tests.service.live import Live

_LOG = logging.getLogger(__name__)


def load(new_house: Any, *, requests: int, keys: int, granted: int, address: str | None) -> None:
    """``keys`` callers ask ``requests`` rows of a ceiling for exactly ``granted`` of them."""
    step = 2.0**-14
    house: House = new_house(ceiling=granted * step, step=step, address=address,
                             requests_per_minute=1e9)  # fmt: skip
    callers = [house.user(f"u{i}") for i in range(keys)]
    rows = contested_rows(requests, seed=5)

    def ask(i: int) -> dict[str, Any] | Problem:
        try:
            return house.ask(callers[i % keys], rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
        except Problem as problem:
            return problem

    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(ask, range(requests)))
    answers = {i: each for i, each in enumerate(replies) if isinstance(each, dict)}
    refused = [each for each in replies if isinstance(each, Problem)]
    assert len(answers) == granted
    assert {each.kind for each in refused} == {"budget-exhausted"}
    assert {each["charged"] for each in answers.values()} == {step}
    assert house.spent == granted * step
    assert len(house.coordinator.hosted("risk").book) == granted
    # A replay is the same reply, byte for byte, and costs nothing.
    for i in list(answers)[:: max(1, granted // 50)]:
        again = house.ask(callers[i % keys], rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
        assert json.dumps(again) == json.dumps(answers[i])
    assert house.spent == granted * step
    # What the database says is what was told: a new process reads it, and answers the same.
    house.close()
    heir: House = new_house(found=False, address=address, requests_per_minute=1e9)
    assert heir.coordinator.wait_until_ready(60)
    for i in list(answers)[:: max(1, granted // 50)]:
        again = heir.ask(callers[i % keys], rows[i : i + 1])
        assert again["outputs"] == answers[i]["outputs"]
        assert again["charged"] == 0
    assert heir.spent == granted * step
    heir.coordinator.catalog.ledger("clinic").verify()


def test_a_ceiling_for_exactly_fifty(new_house: Any) -> None:
    load(new_house, requests=150, keys=20, granted=50, address=None)


class Crowd:
    """Callers with keys of their own, who ask over HTTP and try again as they are told to."""

    def __init__(self, live: Live, keys: list[str], rows: Any) -> None:
        self._keys, self._rows = keys, rows
        limits = httpx.Limits(max_connections=400, max_keepalive_connections=400)
        self._client = httpx.AsyncClient(
            base_url=live.url, limits=limits, timeout=httpx.Timeout(120, pool=None)
        )

    async def ask(self, i: int) -> tuple[int, bytes]:
        """Status and body of the reply to a row."""
        headers = {
            "authorization": f"Bearer {self._keys[i % len(self._keys)]}",
            "idempotency-key": f"k{i}",
        }
        while True:
            reply = await self._client.post(
                "/v2/models/risk/infer", json=v2(self._rows[i : i + 1]), headers=headers
            )
            if reply.status_code not in (409, 503, 504):
                return reply.status_code, reply.content
            await asyncio.sleep(0.2)

    async def ask_all(self, rows: list[int]) -> list[tuple[int, bytes]]:
        return await asyncio.gather(*map(self.ask, rows))

    async def close(self) -> None:
        await self._client.aclose()


@pytest.mark.soak
@pytest.mark.timeout(2 * 3600)
@pytest.mark.parametrize("is_server", [False, True], ids=["file", "server"])
def test_a_ceiling_for_exactly_a_thousand(
    new_house: Any, tmp_path: Path, is_server: bool, request: pytest.FixtureRequest
) -> None:
    size = 10 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 1
    requests, keys, granted, step = 10_000 // size, 200 // size, 1_000 // size, 2.0**-14
    address, secret = f"sqlite:///{tmp_path / 'service.db'}", bytes(32)
    if is_server:
        server = PostgresServer()
        request.addfinalizer(server.stop)
        address = server.database()
    (tmp_path / "service.key").write_bytes(secret)
    (tmp_path / "service.key").chmod(0o600)
    house: House = new_house(ceiling=granted * step, step=step, address=address, key=secret)
    shown, rows = [house.key(f"u{i}") for i in range(keys)], contested_rows(requests, seed=5)
    house.close()

    async def everybody() -> tuple[list[tuple[int, bytes]], list[int], float]:
        crowd = Crowd(live, shown, rows)
        try:
            began = time.monotonic()
            replies = await crowd.ask_all(list(range(requests)))
            seconds = time.monotonic() - began
            answered = [i for i, (status, _) in enumerate(replies) if status == 200]
            # A replay is the same reply, byte for byte.
            assert await crowd.ask_all(answered) == [replies[i] for i in answered]
            return replies, answered, seconds
        finally:
            await crowd.close()

    live = Live(tmp_path, "--workers", "2", address=address)
    try:
        live.wait()
        replies, answered, seconds = asyncio.run(everybody())
        assert live.stop() == 0
    finally:
        live.close()
    _LOG.info("%d requests of %d keys in %.1f s: %d answered", requests, keys, seconds,
              len(answered))  # fmt: skip
    assert len(answered) == granted
    refused = {content for i, (_, content) in enumerate(replies) if i not in set(answered)}
    assert {json.loads(each)["status"] for each in refused} == {403}
    assert len(refused) == 1  # in the same words for everybody
    told = {i: json.loads(replies[i][1]) for i in answered}
    assert {each["parameters"]["charged"] for each in told.values()} == {step}
    # What the ledger and the database say is what was told: a new process reads them.
    heir: House = new_house(found=False, address=address, key=secret, requests_per_minute=1e9)
    assert heir.coordinator.wait_until_ready(60)
    assert heir.spent == granted * step
    assert len(heir.coordinator.hosted("risk").book) == granted
    for i, each in told.items():
        again = heir.ask(heir.user(f"u{i % keys}"), rows[i : i + 1])
        assert again["outputs"]["predict"] == each["outputs"][0]["data"]
        assert again["charged"] == 0
    assert heir.spent == granted * step
    heir.coordinator.catalog.ledger("clinic").verify()


def test_an_outcome_survives_its_own_text() -> None:
    values = [np.float64(0.1), np.asarray([1 / 3, 2 / 3]), 3]
    from pacsklearn.service.answer_book import Answer

    answers = [Answer(value, margin, contested=True) for value, margin in
               zip(values, (float("inf"), float("-inf"), 1e-300), strict=True)]  # fmt: skip
    outcome = Outcome([b"1" * 16] * 3, answers, {"a": [b"1" * 16]}, [float("-inf"), 0.1], (1, 2))
    again = Outcome.from_bytes(outcome.to_bytes())
    assert [each.value for each in again.answers] == [0.1, [1 / 3, 2 / 3], 3]
    assert [each.margin for each in again.answers] == [float("inf"), float("-inf"), 1e-300]
    assert again.belief == outcome.belief
