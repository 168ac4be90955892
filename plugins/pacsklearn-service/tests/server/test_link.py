"""Replies that come back over the socket between a web worker and its coordinator."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.link import Link, serve_links
from pacsklearn_service.server.problem import Problem

from pacsklearn.exceptions import LedgerError


def refused(folder: Path, operation: Callable[..., Any]) -> Problem:
    """What a web worker is told by an operation that fails."""
    listener = serve_links(str(folder / "link"), lambda what: operation)

    async def ask() -> Any:
        link = Link(str(folder / "link"))
        try:
            return await asyncio.wait_for(link.ask("infer"), 10)
        finally:
            await link.close()

    try:
        with pytest.raises(Problem) as told:
            asyncio.run(ask())
    finally:
        listener.shutdown(socket.SHUT_RDWR)
    return told.value


def test_who_asks_is_told_when_the_work_was_called_off(tmp_path: Path) -> None:
    work = Future[Any]()
    work.cancel()
    assert refused(tmp_path, lambda *_: work).kind == "unavailable"


@pytest.mark.parametrize(("error", "kind", "words"), [
    (LedgerError("The database is full"), "unavailable", "The database is full"),
    (RuntimeError("the row was -271828.25"), "defect", "RuntimeError"),
])  # fmt: skip
def test_the_operator_reads_why_an_operation_failed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, kind: str, words: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    told = refused(tmp_path, fail)
    assert told.kind == kind
    assert words not in told.detail
    (line,) = [json.loads(each.message) for each in caplog.records if each.levelname == "ERROR"]
    assert (line["operation"], line["why"]) == ("infer", words)
    assert "271828.25" not in caplog.text


def test_a_refusal_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: Any) -> None:
        raise Problem("unavailable", "The model could not be loaded yet; try again.")

    assert refused(tmp_path, refuse).kind == "unavailable"
    assert not caplog.records
