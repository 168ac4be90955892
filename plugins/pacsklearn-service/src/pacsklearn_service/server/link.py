"""How web workers reach the coordinator: in the same process for tests, or by a Unix socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, final

import structlog

from pacsklearn_service.server.problem import Problem, problem_of

_MOST: Final = 2**30
Operation = Callable[[str | None, dict[str, Any], bytes], Any]
"""What is done for who shows a key or a token, with facts and a content."""


@final
class LocalLink:
    """Coordinator in this process.

    Parameters
    ----------
    operation : callable
        ``operation(what)`` gives what is called with the key or token shown, facts and content.
    """

    def __init__(self, operation: Callable[[str], Operation]) -> None:
        self._operation = operation

    async def ask(
        self, what: str, shown: str | None = None, content: bytes = b"", **facts: Any
    ) -> Any:
        """Return the reply to an operation.

        Raises
        ------
        Problem
        """
        try:
            reply = await asyncio.to_thread(self._operation(what), shown, facts, content)
            return await asyncio.wrap_future(reply) if isinstance(reply, Future) else reply
        except Exception as error:  # noqa: BLE001 - whatever it is, it leaves as a problem
            raise problem_of(error) from None


@final
class SocketLink:
    """Coordinator behind a Unix socket that only its owner can open.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._reader: asyncio.Task[None] | None = None

    async def ask(
        self, what: str, shown: str | None = None, content: bytes = b"", **facts: Any
    ) -> Any:
        """Return the reply to an operation.

        Raises
        ------
        Problem
        """
        try:
            async with self._lock:
                writer = self._writer or await self._connect()
            self._count += 1
            number = self._count
            future = asyncio.get_running_loop().create_future()
            self._waiting[number] = future
            header = {"number": number, "what": what, "shown": shown, "facts": facts,
                      "log": structlog.contextvars.get_contextvars()}  # fmt: skip
            _send(writer, header, content)
            await writer.drain()
        except OSError:
            await self.close()
            raise _unreachable() from None
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Ask nothing more."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    async def _connect(self) -> asyncio.StreamWriter:
        reader, writer = await asyncio.open_unix_connection(self._path)
        self._writer = writer
        self._reader = asyncio.create_task(self._read(reader))
        return writer

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                header, _ = await _receive(reader)
                future = self._waiting.pop(header["number"], None)
                if future is None or future.done():
                    continue
                if "problem" in header:
                    future.set_exception(Problem.from_document(header["problem"]))
                else:
                    future.set_result(header["reply"])
        except (OSError, EOFError, ValueError):
            pass
        finally:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(_unreachable())


Link = LocalLink | SocketLink
"""What asks the coordinator."""


async def serve_links(path: str, operation: Callable[[str], Operation]) -> asyncio.AbstractServer:
    """Listen for web workers.

    Parameters
    ----------
    path : str
        In a folder that only the owner may enter.
    operation : callable
    """
    local = LocalLink(operation)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                header, content = await _receive(reader)
                task = asyncio.create_task(_reply(local, writer, header, content))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        except (OSError, EOFError, ValueError):
            writer.close()

    return await asyncio.start_unix_server(serve, path)


async def _reply(
    local: LocalLink, writer: asyncio.StreamWriter, header: dict[str, Any], content: bytes
) -> None:
    frame: dict[str, Any] = {"number": header["number"]}
    structlog.contextvars.bind_contextvars(**header["log"])
    try:
        shown, facts = header["shown"], header["facts"]
        frame["reply"] = await local.ask(header["what"], shown, content, **facts)
    except Problem as problem:
        frame["problem"] = problem.document()
    try:
        _send(writer, frame, b"")
        await writer.drain()
    except OSError:
        writer.close()


def _send(writer: asyncio.StreamWriter, header: dict[str, Any], content: bytes) -> None:
    text = json.dumps(header).encode()
    writer.write(
        b"".join(
            [len(text).to_bytes(8, "little"), len(content).to_bytes(8, "little"), text, content]
        )
    )


async def _receive(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    sizes = await reader.readexactly(16)
    head, body = int.from_bytes(sizes[:8], "little"), int.from_bytes(sizes[8:], "little")
    # Before anything is read: lengths are the other side's word.
    if head > _MOST or body > _MOST:
        raise ValueError("a message of this length is none of ours")
    header: dict[str, Any] = json.loads(await reader.readexactly(head))
    return header, await reader.readexactly(body)


def _unreachable() -> Problem:
    return Problem("unavailable", "The coordinator is not there; try again.", retry_after=2)
