"""How web workers reach the coordinator: by a Unix socket that only its owner can open."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, Final, final

import structlog

from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import Problem, problem_of, words_of

_MOST: Final = 2**30
_AT_ONCE: Final = 16
_SEND_SECONDS: Final = 2
_EVERY_ROW: Final = ("admit", "infer")
"""Operations that need less than a change of threads, and wait for nobody."""
Operation = Callable[[str | None, dict[str, Any], bytes], Any]
"""What is done for who shows a key or a token, with facts and a content."""
_Send = Callable[[dict[str, Any]], None]


@final
class Link:
    """Coordinator behind a Unix socket.

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
        self._count += 1
        number, future = self._count, asyncio.get_running_loop().create_future()
        try:
            async with self._lock:
                writer = self._writer or await self._connect()
            self._waiting[number] = future
            header = {"number": number, "what": what, "shown": shown, "facts": facts,
                      "log": structlog.contextvars.get_contextvars()}  # fmt: skip
            writer.write(_packed(header, content))
            await writer.drain()
            return await future
        except OSError:
            await self.close()
            raise _unreachable() from None
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
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_MOST)
        self._writer = writer
        self._reader = asyncio.create_task(self._read(reader))
        return writer

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                header = json.loads(await reader.readline())
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


def serve_links(path: str, operation: Callable[[str], Operation]) -> socket.socket:
    """Listen for web workers, each of which is read by a thread of its own.

    Parameters
    ----------
    path : str
        In a folder that only the owner may enter.
    operation : callable
        ``operation(what)`` gives what is called with the key or token shown, facts and content.

    Returns
    -------
    socket
        Shut down, it lets nobody in any more.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    beside = ThreadPoolExecutor(_AT_ONCE, "link")

    def accept() -> None:
        with listener, suppress(OSError):  # it was shut down
            while True:
                connection, _ = listener.accept()
                read = partial(_serve, connection, operation, beside)
                threading.Thread(target=read, name="worker's link", daemon=True).start()

    threading.Thread(target=accept, name="links", daemon=True).start()
    return listener


def _serve(
    connection: socket.socket, operation: Callable[[str], Operation], beside: ThreadPoolExecutor
) -> None:
    """Answer one worker until it ends."""
    # A worker that reads nothing keeps a desk waiting no longer than that.
    limit = struct.pack("ll", _SEND_SECONDS, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
    lock = threading.Lock()

    def send(frame: dict[str, Any]) -> None:
        try:
            with lock:
                connection.sendall(_packed(frame, b""))
        except OSError:  # half a frame may have left: nothing more is understood
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    # Until it has gone, or sends what is none of ours.
    gone = suppress(OSError, EOFError, ValueError)
    with connection, connection.makefile("rb") as reader, gone:
        while True:
            header = json.loads(reader.readline(_MOST))
            reply = partial(_reply, operation, send, header, _exactly(reader, header["size"]))
            if header["what"] in _EVERY_ROW:
                reply()
            else:
                beside.submit(reply)


def _reply(
    operation: Callable[[str], Operation], send: _Send, header: dict[str, Any], content: bytes
) -> None:
    """Send what an operation replies, now or when it is there."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**header["log"])
    done = Future[Any]()
    try:
        reply = operation(header["what"])(header["shown"], header["facts"], content)
        if isinstance(reply, Future):
            done = reply
        else:
            done.set_result(reply)
    except Exception as error:  # noqa: BLE001 - whatever it is, it leaves as a problem
        done.set_exception(error)
    done.add_done_callback(partial(_tell, send, header))


def _tell(send: _Send, header: dict[str, Any], done: Future[Any]) -> None:
    # What was called off before it began has no exception to ask for.
    error = _unreachable() if done.cancelled() else done.exception()
    if error is None:
        told = {"reply": done.result()}
    else:
        problem = problem_of(error)
        told = {"problem": problem.document()}
        if problem is not error and problem.kind in ("defect", "unavailable"):  # nobody is told why
            why = words_of(error)
            LOG.error("an operation failed", operation=header["what"], why=why, **header["log"])
    send({"number": header["number"]} | told)


def _packed(header: dict[str, Any], content: bytes) -> bytes:
    # One line of JSON, then as many bytes as it says.
    return b"".join([json.dumps(header | {"size": len(content)}).encode(), b"\n", content])


def _exactly(reader: BinaryIO, size: int) -> bytes:
    # Before anything is read: the length is the other side's word.
    if not 0 <= size <= _MOST:
        raise ValueError("a message of this length is none of ours")
    content = reader.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _unreachable() -> Problem:
    return Problem("unavailable", "The coordinator is not there; try again.")
