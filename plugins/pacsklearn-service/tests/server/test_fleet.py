"""Kill -9 of clients, web workers, coordinators and database servers, as users run them."""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service_house import asking
from service_house.house import House, contested_rows
from service_house.live import Live, patience, wait_until_asleep

from pacsklearn.upkeep.verification import verify_ledger
from tests.kernel.ledger.postgres_server import PostgresServer

STEP = 2.0**-15
KEY = bytes(range(32))
ROWS = 60_000
USERS = ("ann", "bob")
KINDS = {"coordinator": 1, "client": 4, "worker": 3, "database": 2}
_LOG = logging.getLogger(__name__)


class Client:
    """Somebody who asks row after row, and goes on where it was killed."""

    def __init__(self, folder: Path, user: str, key: str, port: int) -> None:
        self.user, self._key, self._port = user, key, port
        self._rows, self._written = folder / "rows", folder / f"told-{user}"
        self._read = 0
        self.told: dict[int, tuple[Any, float]] = {}
        self.latest = 0.0, 0.0  # when the last request that was answered began and ended
        self.begin()

    def begin(self) -> None:
        # The last row again: the same key gets the same reply.
        self.look()
        first = max(self.told, default=0)
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, asking.__file__, str(self._port), self._key, str(self._rows),
             str(self._written), str(first)],
        )  # fmt: skip

    def look(self) -> None:
        """Read what was told since."""
        if not self._written.exists():
            return
        with self._written.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        self._read += len(new)
        for line in new.splitlines():
            i, label, charged, *times = json.loads(line)
            assert self.told.setdefault(i, (label, charged)) == (label, charged)
            self.latest = times[0], times[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        with self._written.open("rb+") as file:  # a line that was half written is asked again
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)


class Fleet:
    """A coordinator with its worker, a standby, and clients."""

    def __init__(self, folder: Path, address: str, server: PostgresServer | None) -> None:
        self._folder, self._address, self._server = folder, address, server
        (folder / "service.key").write_bytes(KEY)
        (folder / "service.key").chmod(0o600)
        house = House(folder, KEY, address=address, ceiling=2.0, step=STEP)
        keys = {user: house.key(user, quota=2.0) for user in USERS}
        house.close()
        contested_rows(ROWS, seed=9).tofile(folder / "rows")
        self.leader = Live(folder, address=address)
        self.leader.wait()
        self._dead: list[Live] = []
        self.standby = self._stood_by()
        self.clients = [Client(folder, user, key, self.leader.port) for user, key in keys.items()]
        self.back: dict[str, list[float]] = {}
        self._wait_for_all(time.monotonic())

    def kinds(self) -> dict[str, int]:
        """What can be killed, and how often: a coordinator takes longest to be begun again."""
        return KINDS if self._server else {k: n for k, n in KINDS.items() if k != "database"}

    def kill(self, kind: str, rest: float) -> None:
        """Kill one of a kind; its successor, or it itself begun again, has to answer."""
        time.sleep(rest)
        if kind == "coordinator":
            self.standby.wait_for("ready to take over", 180)
            wait_until_asleep(self.standby)
        killed: Callable[[], None] = getattr(self, f"_kill_{kind}")
        at = time.monotonic()
        killed()
        self.back.setdefault(kind, []).append(self._wait_for_all(at))
        if self.standby is self.leader:
            self.standby = self._stood_by()

    def close(self) -> None:
        for client in self.clients:
            client.kill()
            client.look()
        for each in (self.leader, self.standby, *self._dead):
            each.close()

    def _kill_client(self) -> None:
        client = random.choice(self.clients)
        client.kill()
        client.begin()

    def _kill_worker(self) -> None:
        for worker in self.leader.workers("caller"):
            os.kill(worker, signal.SIGKILL)

    def _kill_coordinator(self) -> None:
        self.leader.kill()
        self._dead.append(self.leader)
        self.leader = self.standby  # which needs the machine for itself until it answers

    def _kill_database(self) -> None:
        assert self._server is not None
        self._server.kill()
        self._server.start()

    def _stood_by(self) -> Live:
        ports = self.leader.port, self.leader.curator_port
        return Live(self._folder, address=self._address, ports=ports)

    def _wait_for_all(self, at: float) -> float:
        """Seconds until the first answer to a request that began after a moment.

        Returns when every client has had one.
        """
        deadline = at + 180
        waiting, first = list(self.clients), float("inf")
        while waiting:
            for client in list(waiting):
                client.look()
                assert client.process.poll() is None
                if client.latest[0] > at:
                    waiting.remove(client)
                    first = min(first, client.latest[1] - at)
            assert time.monotonic() < deadline, self.leader.text()
            time.sleep(0.01)
        return first


def audit(new_house: Any, address: str, clients: list[Client]) -> None:
    """Hold what was told against the ledger, the quotas and the stored answers."""
    heir: House = new_house(key=KEY, found=False, address=address, requests_per_minute=10**9)
    assert heir.wait(60)
    rows = contested_rows(ROWS, seed=9)
    spent = {}
    for client in clients:
        told = len(client.told)
        assert sorted(client.told) == list(range(told))
        assert {charged for _, charged in client.told.values()} == {STEP}
        # Debited once for each row that was told, and at most for the one it waited for.
        quota = heir.call("GET", "/v1/models/risk/budget", user=client.user).json()
        spent[client.user] = round(quota["spent"] / STEP)
        assert quota["spent"] == spent[client.user] * STEP
        assert told <= spent[client.user] <= told + 1
        caller = heir.user(client.user, quota=2.0)
        for start in range(0, told, 1000):
            chunk = range(start, min(start + 1000, told))
            again = heir.ask(caller, rows[chunk.start : chunk.stop])
            assert again["outputs"]["predict"] == [client.told[i][0] for i in chunk]
            assert again["charged"] == 0.0
    # Everything that anybody was told is charged once, whoever asked it.
    assert heir.spent == heir.n_answered * STEP == max(spent.values()) * STEP
    verify_ledger(heir.coordinator.catalog.ledger("clinic"))


def run(new_house: Any, folder: Path, kills: int, server: PostgresServer | None) -> None:
    address = server.database() if server else f"sqlite:///{folder / 'service.db'}"
    generator = random.Random(11)
    fleet, late = Fleet(folder, address, server), []
    try:
        kinds = fleet.kinds()

        def drawn() -> str:
            return generator.choices(list(kinds), list(kinds.values()))[0]

        for k in range(kills):
            kind = list(kinds)[k % len(kinds)] if k < 2 * len(kinds) else drawn()
            fleet.kill(kind, generator.uniform(0.0, 0.3))
            if fleet.back[kind][-1] > patience():
                late.append((kind, fleet.back[kind][-1]))
    finally:
        fleet.close()
        for kind, seconds in fleet.back.items():
            found = np.quantile(seconds, [0.5, 0.9, 1.0]).round(2).tolist()
            _LOG.info("%d of %s: median, 90 %% and most seconds %s", len(seconds), kind, found)
    audit(new_house, address, fleet.clients)
    assert late == []


def kills(least: int) -> int:
    return least if os.environ.get("PACSKLEARN_SOAK") == "sample" else 500


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_kills_on_a_file(new_house: Any, tmp_path: Path) -> None:
    run(new_house, tmp_path, kills(4), None)


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_kills_on_a_server(new_house: Any, tmp_path: Path, server: PostgresServer) -> None:
    run(new_house, tmp_path, kills(4), server)
