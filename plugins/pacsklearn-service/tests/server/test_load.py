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

import pytest
from pacsklearn_service.server.problem import Problem
from service_house.house import House, contested_rows, v2
from service_house.live import Live

from pacsklearn.upkeep.verification import verify_ledger

_LOG = logging.getLogger(__name__)


def load(new_house: Any, *, requests: int, keys: int, granted: int, address: str | None) -> None:
    """``keys`` callers ask ``requests`` rows of a ceiling for exactly ``granted`` of them."""
    step = 2.0**-14
    house: House = new_house(ceiling=granted * step, step=step, address=address,
                             requests_per_minute=10**9)  # fmt: skip
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
    assert house.n_answered == granted
    # A replay is the same reply, byte for byte, and costs nothing.
    for i in list(answers)[:: max(1, granted // 50)]:
        again = house.ask(callers[i % keys], rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
        assert json.dumps(again) == json.dumps(answers[i])
    assert house.spent == granted * step
    # What the database says is what was told: a new process reads it, and answers the same.
    house.close()
    heir: House = new_house(found=False, address=address, requests_per_minute=10**9)
    assert heir.wait(60)
    for i in list(answers)[:: max(1, granted // 50)]:
        again = heir.ask(callers[i % keys], rows[i : i + 1])
        assert again["outputs"] == answers[i]["outputs"]
        assert again["charged"] == 0
    assert heir.spent == granted * step
    verify_ledger(heir.coordinator.catalog.ledger("clinic"))


@pytest.mark.soak
def test_a_ceiling_for_exactly_fifty(new_house: Any) -> None:
    load(new_house, requests=150, keys=20, granted=50, address=None)


class Caller:
    """Somebody with a key and a connection, who tries again where that is what the service says.

    An HTTP client of the usual kind takes more time than the service does.
    """

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key
        self._reader: asyncio.StreamReader | None = None

    async def ask(self, i: int, row: Any) -> tuple[int, bytes]:
        """Status and body of the reply to a row."""
        body = json.dumps(v2(row)).encode()
        head = (
            "POST /v2/models/risk/infer HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"authorization: Bearer {self._key}\r\nidempotency-key: k{i}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        while True:
            try:
                status, content = await self._exchange(head.encode() + body)
            except (OSError, EOFError):  # idle for too long: the same key again
                self.close()
                continue
            if status not in (409, 503, 504):
                return status, content
            await asyncio.sleep(0.2)

    async def ask_all(self, mine: list[int], rows: Any) -> list[tuple[int, int, bytes]]:
        return [(i, *await self.ask(i, rows[i : i + 1])) for i in mine]

    async def _exchange(self, request: bytes) -> tuple[int, bytes]:
        if self._reader is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r")[0])
        return int(head.split()[1]), await self._reader.readexactly(length)

    def close(self) -> None:
        if self._reader is not None:
            self._writer.close()
            self._reader = None


async def everybody(
    port: int, keys: list[str], rows: Any
) -> tuple[dict[int, tuple[int, bytes]], list[int], float]:
    """What each row was answered, which of them were, and in how many seconds.

    Each key has two connections, so that it asks twice at any time.
    """
    callers = [Caller(port, key) for key in [*keys, *keys]]
    mine = [list(range(k, len(rows), len(callers))) for k in range(len(callers))]

    async def all_of(parts: list[list[int]]) -> dict[int, tuple[int, bytes]]:
        told = await asyncio.gather(
            *(each.ask_all(part, rows) for each, part in zip(callers, parts, strict=True))
        )
        return {i: (status, content) for part in told for i, status, content in part}

    try:
        began = time.monotonic()
        replies = await all_of(mine)
        seconds = time.monotonic() - began
        answered = [i for i, (status, _) in replies.items() if status == 200]
        # A replay is the same reply, byte for byte.
        again = await all_of([[i for i in part if replies[i][0] == 200] for part in mine])
        assert again == {i: replies[i] for i in answered}
    finally:
        for each in callers:
            each.close()
    return replies, answered, seconds


@pytest.mark.soak
@pytest.mark.timeout(2 * 3600)
@pytest.mark.parametrize("is_server", [False, True], ids=["file", "server"])
def test_a_ceiling_for_exactly_a_thousand(
    new_house: Any, tmp_path: Path, is_server: bool, request: pytest.FixtureRequest
) -> None:
    size = 10 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 1
    if is_server and size > 1:
        pytest.skip("at full length only: CI loads a file, and kills a server")
    requests, keys, granted, step = 10_000 // size, 200 // size, 1_000 // size, 2.0**-14
    address, secret = f"sqlite:///{tmp_path / 'service.db'}", bytes(32)
    if is_server:
        address = request.getfixturevalue("server").database()
    (tmp_path / "service.key").write_bytes(secret)
    (tmp_path / "service.key").chmod(0o600)
    house: House = new_house(ceiling=granted * step, step=step, address=address, key=secret)
    shown, rows = [house.key(f"u{i}") for i in range(keys)], contested_rows(requests, seed=5)
    house.close()

    live = Live(tmp_path, address=address, workers=2)
    try:
        live.wait()
        replies, answered, seconds = asyncio.run(everybody(live.port, shown, rows))
        assert live.stop() == 0
    finally:
        live.close()
    _LOG.info("%d requests of %d keys in %.1f s: %d answered", requests, keys, seconds,
              len(answered))  # fmt: skip
    assert len(answered) == granted
    refused = {content for status, content in replies.values() if status != 200}
    assert {json.loads(each)["status"] for each in refused} == {403}
    assert len(refused) == 1  # in the same words for everybody
    told = {i: json.loads(replies[i][1]) for i in answered}
    assert {each["parameters"]["charged"] for each in told.values()} == {step}
    # What the ledger and the database say is what was told: a new process reads them.
    heir: House = new_house(found=False, address=address, key=secret, requests_per_minute=10**9)
    assert heir.wait(60)
    assert heir.spent == granted * step
    assert heir.n_answered == granted
    for i, each in told.items():
        again = heir.ask(heir.user(f"u{i % keys}"), rows[i : i + 1])
        assert again["outputs"]["predict"] == each["outputs"][0]["data"]
        assert again["charged"] == 0
    assert heir.spent == granted * step
    verify_ledger(heir.coordinator.catalog.ledger("clinic"))
