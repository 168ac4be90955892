"""A thread that keeps a lease: data sets that come and go with it, and a holder that stopped."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import words_of
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.vault import Vault


def own_name() -> str:
    """Return the name of this process, by which no other one on any machine is meant.

    Empty without /proc.
    """
    return _name(os.getpid())


def end(name: str) -> bool:
    """Kill the process of a name, where it runs on this machine and is another than this one.

    It has no lease any more, so that nothing it could still do would count.
    """
    process = _other(name)
    try:
        if process:
            os.kill(process, signal.SIGKILL)
    except OSError:  # it has just ended, or is somebody else's
        return False
    return process > 0


def is_stopped(name: str) -> bool:
    """Return whether the process of a name runs on this machine and was told to stand still."""
    process = _other(name)
    return process > 0 and _stat(process)[0] in "Tt"


def _other(name: str) -> int:
    """Return the number of the process of a name that runs on this machine, not this one; or 0."""
    process = int(name.rpartition(" ")[2] or 0)
    is_there = bool(name) and name == _name(process) and _stat(process)[0] not in "ZX"
    return process if is_there and process != os.getpid() else 0


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _name(process: int) -> str:
    """Return name of a process of this machine; empty where it is gone, or none can be given."""
    try:
        # The number of a process is used again; not with the same time of its beginning.
        began = _stat(process)[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{boot} {space} {began} {process}"


_HOLDER: Final = "holder"


@final
class LeaseKeeper:
    """Holds a lease from when callers reach this process; before, it ends those that have lapsed.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
        Seals who holds the lease: a successor kills whom the name means, and requests with keys are
        sent to the addresses, so nobody who can write the database may choose either.
    seconds : float
        That a lease lasts.
    change : callable
        Called in a thread of its own with data sets that were lost, and those that were taken with
        their tokens; first when there is a lease, also without any.
    leave : callable
        Called in a thread of its own with a data set that is beyond this process's share.
    beside : callable
        Done each time that the lease was kept.

    Attributes
    ----------
    holder : str
        Of the lease; empty until callers reach this process.
    """

    def __init__(
        self,
        database: ServiceDatabase,
        vault: Vault,
        seconds: float,
        change: Callable[[list[str], dict[str, int]], None],
        leave: Callable[[str], None],
        beside: Callable[[], None],
    ) -> None:
        self._database, self._vault, self._seconds = database, vault, seconds
        self._change, self._leave, self._beside = change, leave, beside
        self.holder = ""
        self._leaving: set[str] = set()
        self._is_begun = False
        self._ended, self._wake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    @property
    def is_live(self) -> bool:
        """Whether the lease is kept, or asked for."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def open(self, url: str, curator_url: str) -> None:
        """Hold a lease from now on, of a process that is reached at two addresses."""
        facts = json.dumps([own_name(), url, curator_url, self._database.place]).encode()
        self.holder = self._vault.seal(facts, _HOLDER).hex()
        self._wake.set()

    def reached_at(self, dataset: str) -> tuple[str, str]:
        """Return the addresses of the other process that leads a data set; empty without one."""
        with self._database.reading() as connection:
            holder = self._database.holder(connection, dataset)
        if not holder or holder == self.holder:
            return "", ""
        _, url, curator_url, _ = self._opened(holder)
        return url, curator_url

    def stop(self) -> None:
        """Give the lease back."""
        self._ended.set()
        self._wake.set()
        if self.is_live:
            self._thread.join(timeout=10)
        if self._database.is_held:
            try:
                self._database.release()
            except LedgerError as error:  # it ends by itself, a little later
                LOG.warning("the lease could not be given back", error=type(error).__name__)

    def _run(self) -> None:
        while not self._ended.is_set():
            self._wake.clear()
            try:
                self._keep()
                self._beside()
            except Exception as error:  # noqa: BLE001 - tried again until the service ends
                about = {"error": type(error).__name__, "why": words_of(error)}
                LOG.error("the lease could not be kept", **about)
            # Often enough that one or two attempts may fail before the lease ends.
            self._wake.wait(self._seconds / 5)

    def _keep(self) -> None:
        self._database.take(self.holder, self._seconds, self._end)
        lost, new = self._database.lost, self._database.new
        is_first = self._database.is_held and not self._is_begun
        self._is_begun = self._is_begun or is_first
        surplus = {*self._database.surplus} - self._leaving
        self._leaving |= surplus
        # Beside the lease, which is kept however long models are loaded and answers are finished.
        if lost or new or is_first:
            self._begin(self._change, lost, new)
        for name in surplus:
            self._begin(self._leave_one, name)

    def _begin(self, work: Callable[..., None], *args: Any) -> None:
        def run() -> None:
            try:
                work(*args)
            except LedgerError as error:  # the lease was lost meanwhile, or the service ends
                LOG.warning("the lease was lost meanwhile", error=type(error).__name__)

        threading.Thread(target=run, name="beside the lease", daemon=True).start()

    def _leave_one(self, dataset: str) -> None:
        try:
            self._leave(dataset)
        finally:
            self._leaving.discard(dataset)

    def _end(self, holders: list[str]) -> int:
        names = []
        for name, *_, database in map(self._opened, holders):
            if database != self._database.place and (process := _other(name)):
                raise LedgerError(
                    f"Process {process} of this machine leads data sets in another copy of this "
                    "database, with the same secrets: end it first."
                )
            names.append(name)
        place = next((i for i, name in enumerate(names) if is_stopped(name)), 0)
        if end(names[place]):
            LOG.error("the process that held the lease stood still, and was killed")
        return place

    def _opened(self, holder: str) -> list[str]:
        facts: list[str] = json.loads(self._vault.open(bytes.fromhex(holder), _HOLDER))
        return facts
