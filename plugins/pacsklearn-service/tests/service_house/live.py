"""A service of its own processes, as users start it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

DEMO = Path(__file__).parents[4] / "examples" / "service_demo.py"


def own_port() -> socket.socket:
    """A port that nobody else is given while the socket is open; a server may bind it as well."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", 0))
    return found


class Live:
    """``pacsklearn service run`` on two free ports, and one that says how it is."""

    def __init__(self, folder: Path, *words: str, address: str | None = None,
                 ports: tuple[int, int] | None = None, **settings: Any) -> None:  # fmt: skip
        self.folder, self._held = folder, [own_port() for _ in range(1 if ports else 3)]
        self.health_port, *own = [each.getsockname()[1] for each in self._held]
        self.port, self.curator_port = ports or own
        config = folder / f"service-{self.health_port}.toml"
        stated = settings | {
            "database": address or f"sqlite:///{folder / 'service.db'}",
            "key_file": str(folder / "service.key"), "port": self.port,
            "curator_port": self.curator_port, "health_port": self.health_port,
        }  # fmt: skip
        config.write_text(
            "".join(f"{name} = {json.dumps(each)}\n" for name, each in stated.items())
        )
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = (folder / f"log-{self.port}-{time.monotonic_ns()}").open("w+")
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "pacsklearn.cli", "service", "run", "--config", str(config),
             *words],
            stdout=self.log, stderr=subprocess.STDOUT, cwd=folder,
        )  # fmt: skip

    def text(self) -> str:
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def wait(self, seconds: float = 180.0, **options: Any) -> float:
        """Seconds until it is ready."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            try:
                if httpx.get(f"{self.url}/v2/health/ready", timeout=1, **options).is_success:
                    return time.monotonic() - began
            except httpx.HTTPError:
                pass
            assert self.process.poll() is None, self.text()
            time.sleep(0.05)
        raise AssertionError(self.text())

    def wait_for(self, words: str, seconds: float = 180.0) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if words in self.text():
                return self.text()
            time.sleep(0.05)
        raise AssertionError(self.text())

    def demo_key(self) -> str:
        """A key of the user of the demonstration, which is begun."""
        curator = f"http://127.0.0.1:{self.curator_port}"
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, str(DEMO), "--curator", curator, "--callers", self.url,
             "--key", str(self.folder / "service.curator")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split("Bearer ")[1].split("'")[0]

    def workers(self, plane: str = "") -> list[int]:
        """Process numbers of the web workers, of one plane where it is named."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = status.read_text().rpartition(")")[2].split()
                asked = (status.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if int(words[1]) == self.process.pid and plane.encode() in asked:
                found.append(int(status.parent.name))
        return found

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)

    def close(self) -> None:
        workers: list[Any] = self.workers()
        if self.process.poll() is None:
            self.kill()
        for worker in workers:
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for each in (self.log, *self._held):
            each.close()


def wait_until_asleep(live: Live) -> None:
    """Until none of its web workers has run, or wanted to, for a while: they wait for something."""
    deadline, quiet = time.monotonic() + 180, 0
    while quiet < 20:
        assert time.monotonic() < deadline
        try:
            states = [
                Path(f"/proc/{each}/stat").read_text().rpartition(")")[2] for each in live.workers()
            ]
        except FileNotFoundError:  # one that has just ended, and is begun again
            states = []
        quiet = quiet + 1 if states and all(each[1] == "S" for each in states) else 0
        time.sleep(0.02)


def patience() -> float:
    """Ten seconds, where every process has a core of its own."""
    return 10.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
