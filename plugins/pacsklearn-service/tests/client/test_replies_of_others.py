"""Replies that no service gives: the client says so, and neither waits nor answers wrongly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from pacsklearn_service import PrivateModel
from pacsklearn_service.channel import PREFIX
from pacsklearn_service.errors import ServiceBudgetError, ServiceError

META = {"name": "m", "columns": [{"name": "a", "kind": "number"}], "answers": "labels",
        "step_budget": 0.1, "classes": [0, 1]}  # fmt: skip
ANSWER = {"outputs": [{"name": "predict", "datatype": "INT64", "shape": [2], "data": [0, 1]}],
          "parameters": {"charged": 0.1}}  # fmt: skip


class Other(ThreadingHTTPServer):
    """Replies in the order stated: a status, and a body or what it is as JSON."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[tuple[int, Any]] = []
        self.asked: list[str] = []

    def model(self, *replies: tuple[int, Any], **options: Any) -> PrivateModel:
        self.replies, self.asked = [*replies], []
        url, own = f"http://127.0.0.1:{self.server_port}", {"model": "m", "retries": 1} | options
        return PrivateModel(url, "pac_a_b", **own)


class _Handler(BaseHTTPRequestHandler):
    server: Other

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.asked.append(self.path)
        status, said = self.server.replies.pop(0)
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the library's name

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    with Other() as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


NOT_ONE = [b"garbage", b"[]", b"null", b"1", {}, b"[" * 200_000, META | {"columns": 5},
           META | {"columns": [{"name": "a", "kind": "new"}]},
           META | {"step_budget": "x"}]  # fmt: skip


@pytest.mark.parametrize("said", NOT_ONE)
def test_a_model_that_is_none(other: Other, said: Any) -> None:
    with pytest.raises(ServiceError, match="not as a pacsklearn service"):
        other.model((200, said)).fit()


@pytest.mark.parametrize("said", [
    {}, b"[]", {"outputs": None}, {"outputs": [{"name": "predict"}]},
    {"outputs": [ANSWER["outputs"][0] | {"shape": [1], "data": [1]}], "parameters": {"charged": 0}},
    {"outputs": ANSWER["outputs"]},
])  # fmt: skip
def test_answers_that_are_not_one_a_row(other: Other, said: Any) -> None:
    model = other.model((200, META), (200, said), max_charge=1.0)
    with pytest.raises(ServiceError, match="not as a pacsklearn service"):
        model.predict([[1.0], [2.0]])


@pytest.mark.parametrize("said", [{}, b"[]", {"worst_case": [], "remaining": "x", "spent": None}])
def test_figures_that_are_none(other: Other, said: Any) -> None:
    exhausted = {"type": PREFIX + "quota-exhausted", "detail": "all is spent"}
    for use in (
        lambda: other.model((200, META), (200, said)).preview([[1.0]]),
        lambda: other.model((200, META), (200, said)).remaining_budget_,
        lambda: other.model((200, META), (429, exhausted), (200, said)).predict([[1.0]]),
        lambda: other.model((200, META), (429, exhausted | {"spent": []})).predict([[1.0]]),
    ):
        with pytest.raises(ServiceError) as caught:
            use()
        assert not isinstance(caught.value, ServiceBudgetError)


@pytest.mark.parametrize(
    ("said", "wait"),
    [("NaN", 0.1), ("-5", 0.1), ("-Infinity", 0.1), ('"5"', 0.1), ("7", 7), ("1e400", 30.0),
     ("1" + "0" * 400, 30.0)],
)  # fmt: skip
def test_a_wait_of_any_size(
    other: Other, monkeypatch: pytest.MonkeyPatch, said: str, wait: float
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    busy = f'{{"type": "{PREFIX}unavailable", "detail": "wait", "retry_after": {said}}}'.encode()
    other.model((503, busy), (200, META)).fit()
    assert waits == [wait]


def test_attempts_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    with pytest.raises(ServiceError, match="cannot be reached"):
        PrivateModel("http://127.0.0.1:9", "pac_a_b", model="m", retries=1100).fit()
    assert (len(waits), waits[-1]) == (1100, 30.0)


def test_showing_an_estimator_asks_nobody(other: Other) -> None:
    model = other.model((200, META))
    model._repr_html_()
    assert (dir(model).count("predict"), other.asked) == (1, [])
    model.fit()._repr_html_()
    assert dir(model).count("classes_") == 1
    assert len(other.asked) == 1


def test_the_most_that_may_be_charged_is_a_number(other: Other) -> None:
    model = other.model((200, META), (200, ANSWER), max_charge=np.float32(0.5))
    assert model.predict([[1.0], [2.0]]).tolist() == [0, 1]
    for wrong in (float("nan"), -1, float("inf"), "1"):
        with pytest.raises(ValueError, match="max_charge"):
            other.model((200, META), (200, ANSWER), max_charge=wrong).predict([[1.0], [2.0]])


def test_a_key_as_a_file_holds_it(other: Other) -> None:
    own = PrivateModel("http://127.0.0.1:9", "pac_a_b\n").key
    assert own is not None
    assert own.reveal() == "pac_a_b"
    with pytest.raises(ValueError, match="printable"):
        PrivateModel("http://127.0.0.1:9", " \n")
