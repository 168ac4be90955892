"""The coordinator's own process: its lease, its socket, and the web workers it begins."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from pacsklearn_service.channel import is_loopback
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.answering.operations import Operations
from pacsklearn_service.server.link import serve_links
from pacsklearn_service.server.settings import SETTINGS, Settings

_LOG: Final = logging.getLogger("pacsklearn_service")
_TICK: Final = 0.2
_GRACE: Final = 25.0


def check_settings(settings: Settings) -> None:
    """Refuse an address that others can reach in clear text.

    Raises
    ------
    ValueError
    """
    for name, host in (("host", settings.host), ("curator_host", settings.curator_host)):
        is_safe = settings.certificate is not None or settings.trust_proxy
        if not (is_safe or is_loopback(host)):
            raise ValueError(
                f"{name} must be a loopback address (127.0.0.1) unless TLS files are given "
                "(--certificate, --private-key) or a proxy that ends TLS is trusted "
                f"(--trust-proxy); got {host!r}."
            )
    if (settings.certificate is None) != (settings.private_key is None):
        raise ValueError("certificate and private_key must be given together.")


@final
class Server:
    """Runs a service until it is told to stop.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self.operations = Operations(coordinator)
        self._workers: list[_Worker] = []
        self._addresses: dict[str, socket.socket] = {}
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT; what is under way is finished first."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stopping.set)
        folder = Path(tempfile.mkdtemp(prefix="pacsklearn-"))  # 0700: nobody else can enter
        links = await serve_links(str(folder / "link"), self.operations)
        try:
            await asyncio.to_thread(self._coordinator.start)
            while not self._stopping.is_set():
                self._tend(str(folder / "link"))
                if self._coordinator.is_ready:
                    self._open()
                elif self._addresses and self._coordinator.database.token is None:
                    await self._end_workers()  # another process needs the address
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _TICK)
        finally:
            await self._end_workers()
            self.operations.jobs.close()
            links.close()
            await asyncio.to_thread(self._coordinator.stop)
            shutil.rmtree(folder, ignore_errors=True)

    def _tend(self, link: str) -> None:
        """Begin the workers, and again those that have died.

        A standby has them too: to begin one takes longer than all else that a takeover needs.
        """
        planes = ["caller"] * self._coordinator.settings.workers + ["curator"]
        if not self._workers:
            self._workers = [self._begun(plane, link) for plane in planes]
        for i, worker in enumerate(self._workers):
            if worker.process.poll() is not None:
                _LOG.error("a web worker has ended; another one is begun")
                worker.control.close()
                self._workers[i] = self._begun(worker.plane, link)

    def _open(self) -> None:
        """Take the addresses, and hand them to the workers that have none yet."""
        if not self._addresses:
            settings = self._coordinator.settings
            try:
                callers = _bound(settings.host, settings.port)
                curator = _bound(settings.curator_host, settings.curator_port)
            except OSError as error:
                _LOG.warning("an address is still in use (%s); tried again", type(error).__name__)
                return
            self._addresses = {"caller": callers, "curator": curator}
            ports = (each.getsockname()[1] for each in (callers, curator))
            _LOG.warning("callers: port %d; curator: port %d", *ports)
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
            words = ["--plane", plane, "--link", link, "--control", str(theirs.fileno())]
            process = subprocess.Popen(  # noqa: S603 - this package's own program
                [sys.executable, "-m", "pacsklearn_service.server.web.worker", *words,
                 "--settings", SETTINGS.dump_json(self._coordinator.settings).decode()],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A worker needs no key, so that none is in its environment.
                env={k: v for k, v in os.environ.items() if not k.startswith("PACSKLEARN_SERVICE")},
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        # A restart need not wait until connections of before are forgotten.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener
