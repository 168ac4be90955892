"""Replies that come back over the socket between a web worker and its coordinator."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.link import Link, serve_links
from pacsklearn_service.server.problem import Problem


def test_who_asks_is_told_when_the_work_was_called_off(tmp_path: Path) -> None:
    work = Future[Any]()
    work.cancel()
    listener = serve_links(str(tmp_path / "link"), lambda what: lambda *_: work)

    async def ask() -> Any:
        link = Link(str(tmp_path / "link"))
        try:
            return await asyncio.wait_for(link.ask("infer"), 10)
        finally:
            await link.close()

    try:
        with pytest.raises(Problem) as told:
            asyncio.run(ask())
    finally:
        listener.shutdown(socket.SHUT_RDWR)
    assert told.value.kind == "unavailable"
