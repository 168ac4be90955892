"""The coordinator's own process: lease, socket, the web workers it begins, and who may ask what."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, final

from pacsklearn_service.server.answering.asking import Asking
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.answering.curating import Curating
from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.link import Operation, serve_links
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.settings import PREFIX


@final
class Operations:
    """What may be asked, and by whom.

    A worker may have been taken over, so it sends the key or token that it was shown, and both
    identity and scope are checked here. A method's first word says who may ask: anybody, whoever is
    known, who has the scope ``ask`` or the scope ``curate``.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._parts = Asking(coordinator), Curating(coordinator), coordinator.jobs

    def __call__(self, what: str) -> Operation:
        """Call the operation of a name with the key or token shown, facts and a content."""
        for part, who in product(self._parts, ("anybody", "known", *_SCOPES)):
            operation = getattr(part, f"{who}_{what}", None)
            if operation is not None:
                return lambda shown, facts, content: operation(
                    self._checked(who, shown), **facts | ({"content": content} if content else {})
                )
        raise Problem("not-found", "There is no such operation.")

    def _checked(self, who: str, shown: str | None) -> Caller | None:
        caller = None if shown is None else self._coordinator.callers.find(shown)
        if who != "anybody" and caller is None:
            raise Problem("unauthenticated", "Show a key: Authorization: Bearer ...")
        if caller is not None and who in _SCOPES:
            caller.need(_SCOPES[who])
        return caller


_SCOPES: Final = {"asker": "ask", "curator": "curate"}


_TICK: Final = 0.2
_GRACE: Final = 25.0


@final
class Server:
    """Runs a service until it is told to stop.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._workers: list[_Worker] = []
        self._addresses: dict[str, socket.socket] = {}
        self._is_standing_by = False
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT; what is under way is finished first."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stopping.set)
        health = await self._serve_health()
        folder = Path(tempfile.mkdtemp(prefix="pacsklearn-"))  # 0700: nobody else can enter
        link = str(folder / "link")
        links = serve_links(link, Operations(self._coordinator))
        try:
            await asyncio.to_thread(self._coordinator.start)
            # A standby has workers too: to begin one takes longer than all else that a takeover
            # needs.
            planes = ["caller"] * self._coordinator.settings.workers + ["curator"]
            self._workers = [self._begun(plane, link) for plane in planes]
            while not self._stopping.is_set():
                self._tend(link)
                self._open()
                if self._coordinator.is_ready and not gc.get_freeze_count():
                    # What is loaded stays: to look through it for garbage takes a fifth of a
                    # second, in which nobody is answered.
                    gc.freeze()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _TICK)
        finally:
            await self._end_workers()
            links.shutdown(socket.SHUT_RDWR)
            if health is not None:
                health.close()
            await asyncio.to_thread(self._coordinator.stop)
            shutil.rmtree(folder, ignore_errors=True)

    async def _serve_health(self) -> asyncio.AbstractServer | None:
        """Answer this machine's orchestrator: a standby is live, and not ready."""
        port, coordinator = self._coordinator.settings.health_port, self._coordinator

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, EOFError, ValueError, TimeoutError):
                async with asyncio.timeout(_TICK * 10):
                    head = await reader.readuntil(b"\r\n\r\n")
                asked = {b"/live": coordinator.is_live, b"/ready": coordinator.is_ready}
                holds = asked.get(head.split()[1])
                words = {True: "200 OK", False: "503 Service Unavailable", None: "404 Not Found"}
                writer.write(f"HTTP/1.1 {words[holds]}\r\ncontent-length: 0\r\n\r\n".encode())
                await writer.drain()
            writer.close()

        try:
            return None if port is None else await asyncio.start_server(answer, "127.0.0.1", port)
        except OSError as error:
            raise ValueError(
                f"health_port {port} cannot be used ({os.strerror(error.errno or 0)}): every "
                "process of a machine needs one of its own, a standby too"
            ) from None

    def _tend(self, link: str) -> None:
        """Begin the workers again that have died."""
        for i, worker in enumerate(self._workers):
            if worker.process.poll() is not None:
                LOG.error("a web worker has ended; another one is begun")
                worker.control.close()
                self._workers[i] = self._begun(worker.plane, link)

    def _open(self) -> None:
        """Take the addresses, and hand them to the workers that have none yet."""
        if not self._addresses:
            settings = self._coordinator.settings
            try:
                callers = _bound(settings.host, settings.port)
                with contextlib.ExitStack() as stack:
                    stack.callback(callers.close)
                    curator = _bound(settings.curator_host, settings.curator_port)
                    stack.pop_all()
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):  # no waiting helps
                    raise ValueError(f"host or port cannot be used: {error.strerror}") from None
                if not self._is_standing_by:
                    LOG.warning("standing by: an address cannot be taken", why=error.strerror)
                self._is_standing_by = True
                return
            self._addresses = {"caller": callers, "curator": curator}
            ports = {name: each.getsockname()[1] for name, each in self._addresses.items()}
            LOG.info("listening", **ports)
            self._coordinator.open(*settings.reached_at(**ports))
        for worker in self._workers:
            if not worker.is_open:
                worker.is_open = True
                with contextlib.suppress(OSError):  # it has died; another one is begun
                    socket.send_fds(
                        worker.control, [b"."], [self._addresses[worker.plane].fileno()]
                    )

    def _begun(self, plane: str, link: str) -> _Worker:
        control, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - this package's own program
                [sys.executable, "-m", "pacsklearn_service.server.web.worker", plane, link,
                 str(theirs.fileno()), self._coordinator.settings.for_workers()],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A worker needs no key, so that none is in its environment.
                env={k: v for k, v in os.environ.items() if not k.startswith(PREFIX)},
            )  # fmt: skip
        return _Worker(plane, control, process)

    async def _end_workers(self) -> None:
        workers, self._workers = self._workers, []
        addresses, self._addresses = self._addresses, {}
        for address in addresses.values():
            address.close()
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            try:
                await asyncio.to_thread(worker.process.wait, _GRACE)
            except subprocess.TimeoutExpired:
                worker.process.kill()
            worker.control.close()


@final
@dataclass(eq=False)
class _Worker:
    """A web worker; its address comes, and the coordinator's end shows, by its control socket."""

    plane: str
    control: socket.socket
    process: subprocess.Popen[bytes]
    is_open: bool = False


def _bound(host: str, port: int) -> socket.socket:
    is_v6 = ":" in host
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024, dualstack_ipv6=is_v6)
