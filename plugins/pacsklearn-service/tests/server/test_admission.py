"""Who may ask, how often and how much is known before a body is decoded or anything is kept."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
import uvicorn
from pacsklearn_service.server.answering.oidc import fetch_keys
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.schemas import ARROW, PARQUET
from pacsklearn_service.server.web.table_body import any_table
from pacsklearn_service.server.web.worker import BoundedHttp, caller_app
from service_house.house import House, contested_rows, v2
from service_house.live import own_port
from service_house.local_link import LocalLink

MODEL = "/v1/models/risk"
NOTHING = b'{"inputs": [{"name": '  # what no decoder takes


def jobs_of(house: House) -> int:
    with house.coordinator.database.reading() as connection:
        return len(connection.ask("SELECT id FROM service_jobs"))


def without_quota(house: House) -> str:
    house.user("idle", None)
    return house.key("idle", quota=None)  # type: ignore[arg-type]


def test_who_has_no_quota_is_told_nothing_and_leaves_nothing(house: House) -> None:
    """Not even that there is such a model."""
    without_quota(house)
    before = jobs_of(house)
    for path in ("/v2/models/risk", "/v2/models/risk/ready", *(
        f"{MODEL}/{what}" for what in ("budget", "statement", "card", "reservations")
    )):  # fmt: skip
        told, other = (
            house.call("GET", each, user="idle") for each in (path, path.replace("risk", "none"))
        )
        assert (told.status_code, told.content) == (404, other.content), path
    assert house.call("GET", "/v1/models", user="idle").json() == {"models": []}
    for path in ("/v2/models/risk/infer", f"{MODEL}/preview", f"{MODEL}/jobs",
                 "/invocations?model=risk"):  # fmt: skip
        for content in (NOTHING, json.dumps(v2(contested_rows(3))).encode()):
            reply = house.call("POST", path, user="idle", content=content)
            other = house.call("POST", path.replace("risk", "none"), user="idle", content=content)
            assert (reply.status_code, reply.content) == (404, other.content), (path, reply.text)
    assert jobs_of(house) == before


def test_no_byte_of_a_body_is_read_for_nobody(house: House) -> None:
    app, sent = house.app(caller_app), []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    for path in (f"{MODEL}/reservations", "/v2/models/risk/infer", f"{MODEL}/jobs"):
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
                 "query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1",
                 "headers": [(b"content-type", b"application/json")], "client": ("127.0.0.1", 1),
                 "server": ("test", 80)}  # fmt: skip
        asyncio.run(app(scope, receive, send))
        assert sent[0]["status"] == 401
        sent.clear()


def test_the_rate_is_counted_before_a_body_is_decoded(new_house: Any) -> None:
    house: House = new_house(requests_per_minute=2)
    replies = [
        house.call("POST", "/v2/models/risk/infer", user="ann", content=NOTHING).status_code
        for _ in range(4)
    ]
    assert replies == [400, 400, 429, 429]


def test_each_row_after_another_is_counted(new_house: Any) -> None:
    house: House = new_house(requests_per_minute=4)
    row, path = v2(contested_rows(1)), "/v2/models/risk/infer"
    replies = [house.call("POST", path, user="ann", json=row).status_code for _ in range(5)]
    assert replies == [200, 200, 200, 200, 429]
    # Refused before it is read.
    assert house.call("POST", path, user="ann", content=NOTHING).status_code == 429


def test_guesses_cost_the_coordinator_no_more_than_their_ration(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house(failures_per_minute=3)
    real, asked = type(house.coordinator.callers).find, []

    def find(callers: Any, shown: str) -> Any:
        asked.append(shown)
        return real(callers, shown)

    monkeypatch.setattr(type(house.coordinator.callers), "find", find)
    good = {"authorization": f"Bearer {house.key('ann')}"}
    app = house.app(caller_app)

    async def run() -> list[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            assert (await client.get("/v1/models", headers=good)).status_code == 200
            guesses = [
                client.get("/v1/models", headers={"authorization": f"Bearer pac_{i}_guess"})
                for i in range(12)
            ]
            codes = [reply.status_code for reply in await asyncio.gather(*guesses)]
            # Whoever is known already is not kept out by somebody else's guesses.
            codes.append((await client.get("/v1/models", headers=good)).status_code)
            return codes

    codes = asyncio.run(run())
    assert codes[-1] == 200
    assert codes.count(401) == 3
    assert codes.count(429) == 9
    assert len([shown for shown in asked if "guess" in shown]) == 3


def test_a_row_costs_the_same_whatever_the_most_rows_of_a_request_are() -> None:
    signature, spent = Signature({"x": "number"}), {}
    for most in (10, 2**22):
        began = time.thread_time()
        for _ in range(20):
            signature.checked({"x": [1.0]}, most=most)
        spent[most] = time.thread_time() - began
    assert spent[2**22] < 0.5 + 10 * spent[10]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1.evil.example/keys", "http://localhost.evil.example", "file:///keys"]
)
def test_the_keys_of_an_issuer_come_over_tls_or_from_this_machine(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        fetch_keys(url)


def arrow(columns: dict[str, Any], compression: str | None) -> bytes:
    sink, table = io.BytesIO(), pa.table(columns)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return sink.getvalue()


def test_one_long_text_in_every_row_stays_one_text() -> None:
    text = "x" * 400_000
    repeated = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), pa.array([text]))
    body, pool = arrow({"a": repeated}, None), pa.default_memory_pool()
    allocated, highest = pa.total_allocated_bytes(), pool.max_memory()
    column = any_table(body, ARROW, most=10_000, most_bytes=2**26)["a"]
    assert len(column) == 10_000
    assert len({id(each) for each in column}) == 1
    assert pool.max_memory() < max(highest, allocated + 2**26)


def test_texts_that_stand_in_every_row_are_counted_in_every_row() -> None:
    signature = Signature({"a": "text", "b": "text"})
    column = np.full(10_000, "x" * 600, dtype=object)
    with pytest.raises(Problem, match="characters"):
        signature.checked({"a": column, "b": column}, most=10_000)
    half = {"a": column, "b": np.full(10_000, "", dtype=object)}
    assert len(signature.checked(half, most=10_000)["a"]) == 10_000


@pytest.mark.parametrize("path", ["/v2/models/risk/infer", f"{MODEL}/preview", f"{MODEL}/jobs",
                                  "/invocations?model=risk"])  # fmt: skip
def test_a_parquet_file_is_read_for_curators_only(house: House, path: str) -> None:
    # Its footer states sizes that nobody has counted: 187 kB came to 2 GB.
    reply = house.call("POST", path, user="ann", content=b"PAR1xxxxPAR1",
                       headers={"content-type": PARQUET})  # fmt: skip
    assert reply.status_code == 415


@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_stream_that_inflates_is_refused(is_dictionary: bool) -> None:
    zeros: Any = pa.array(np.zeros(10_000))
    columns = {"a": zeros, "b": zeros.dictionary_encode() if is_dictionary else zeros}
    whole = any_table(arrow(columns, None), ARROW, most=10_000, most_bytes=2**26)
    assert {name: column.sum() for name, column in whole.items()} == {"a": 0.0, "b": 0.0}
    for compression in ("zstd", "lz4"):
        with pytest.raises(Problem, match="compressed"):
            any_table(arrow(columns, compression), ARROW, most=10_000, most_bytes=2**26)


def test_jobs_are_counted_deleted_and_forgotten(new_house: Any) -> None:
    house: House = new_house(most_jobs=2, keep_jobs=1e-9, most_job_bytes=1000)
    refused = house.call("POST", f"{MODEL}/jobs", user="jim", json=v2(contested_rows(40)))
    assert refused.status_code == 429

    def begin() -> Any:
        return house.call("POST", f"{MODEL}/jobs", user="jim", json=v2(contested_rows(2)))

    def state(job: str) -> Any:
        return house.call("GET", f"/v1/jobs/{job}", user="jim")

    made = [begin().json()["id"] for _ in range(2)]
    assert begin().status_code == 429
    deadline = time.monotonic() + 60
    while {state(job).json()["status"] for job in made} != {"done"}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    house.key("eve")
    assert house.call("DELETE", f"/v1/jobs/{made[0]}", user="eve").status_code == 404
    assert house.call("DELETE", f"/v1/jobs/{made[0]}", user="jim").json() == {"id": made[0]}
    assert state(made[0]).status_code == 404
    assert begin().status_code == 202
    house.coordinator.jobs.forget_old()
    assert state(made[1]).status_code == 404


@pytest.mark.parametrize("is_body", [False, True])
def test_requests_that_are_sent_by_halves_keep_nobody_out(house: House, is_body: bool) -> None:
    sent = b"GET /v2/health/live HTTP/1.1\r\n"
    if is_body:
        sent = (
            f"POST {MODEL}/preview HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n"
            f"Authorization: Bearer {house.key('ann')}\r\n\r\n{{"
        ).encode()
    with served(house) as (port, server):
        halves = []
        for _ in range(30):
            half = socket.create_connection(("127.0.0.1", port))
            half.sendall(sent)
            halves.append(half)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            for _ in range(3):
                assert client.get("/v2/health/live").status_code == 200
        server.config.timeout_keep_alive = 0.2  # type: ignore[assignment] # of the next ones
        late = socket.create_connection(("127.0.0.1", port))
        late.sendall(sent)
        late.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            assert late.recv(1) == b""
        for each in (*halves, late):
            each.close()


def test_who_has_sent_all_may_close_that_half_and_gets_the_reply(house: House) -> None:
    body = json.dumps(v2(contested_rows(1, seed=77)))
    head = (f"POST /v2/models/risk/infer HTTP/1.1\r\nhost: test\r\ncontent-length: {len(body)}\r\n"
            f"authorization: Bearer {house.key('ann')}\r\n")  # fmt: skip
    with served(house) as (port, _), socket.create_connection(("127.0.0.1", port)) as half:
        half.settimeout(60)
        half.sendall(f"{head}content-type: application/json\r\n\r\n{body}".encode())
        half.shutdown(socket.SHUT_WR)
        told = half.makefile("rb").read()  # to its end, which comes with the reply
    assert told.startswith(b"HTTP/1.1 200")
    assert b'"predict"' in told


@contextlib.contextmanager
def served(house: House) -> Iterator[tuple[int, uvicorn.Server]]:
    own, app = own_port(), caller_app(LocalLink(house.operations), house.settings)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="critical",
            lifespan="off",
            limit_concurrency=10,
            http=BoundedHttp,
        )
    )
    thread = threading.Thread(target=server.run, args=([own],), daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield own.getsockname()[1], server
    finally:
        server.should_exit = True
        thread.join(30)


def test_a_body_that_needs_too_much_memory_is_its_own_error(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*given: Any, **more: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("pacsklearn_service.server.web.data_plane.any_table", read)
    reply = house.call("POST", "/v2/models/risk/infer", user="ann", content=b"a",
                       headers={"content-type": ARROW})  # fmt: skip
    assert reply.status_code == 413
