"""What another coordinator replies, on its way to who asked."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from fastapi import FastAPI, Request, Response
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.web.app import passed_on


def passed(content: bytes) -> Response:
    """What a coordinator passes on of such a reply, which says that it has four bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with listener.accept()[0] as connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n" + content)

        thread = threading.Thread(target=answer)
        thread.start()
        app = FastAPI()
        app.state.plane, app.state.settings = "url", Settings()
        scope = {"type": "http", "method": "GET", "headers": [], "app": app,
                 "raw_path": b"/v1/models", "query_string": b""}  # fmt: skip
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            elsewhere = Problem("elsewhere", "Ask there.", url=url, curator_url="")
            return asyncio.run(passed_on(Request(scope), elsewhere, b""))
        finally:
            thread.join()


def test_a_reply_that_was_cut_off_is_passed_on_to_nobody() -> None:
    assert passed(b"true").body == b"true"
    with pytest.raises(Problem) as refused:
        passed(b"tr")
    assert refused.value.kind == "unavailable"
