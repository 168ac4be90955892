"""Kill -9 at random moments: nothing answered uncharged, nothing charged twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.problem import problem_of
from service_house.house import House, contested_rows

from pacsklearn.upkeep.verification import verify_ledger
from tests.kernel.ledger.postgres_server import PostgresServer

STEP = 2.0**-14
KEY = bytes(range(32))
ROWS = 20_000


def ask_on_and_on(address: str, written: Path, first: int) -> None:
    """A coordinator that asks itself row after row, and writes down what it was told."""
    house = House(written.parent, KEY, address=address, ceiling=2.0, step=STEP, found=False,
                  lease=3.0, requests_per_minute=10**9)  # fmt: skip
    assert house.wait(60)
    caller, rows = house.user("ann"), contested_rows(ROWS, seed=9)
    with written.open("a", buffering=1) as file:
        file.write("ready\n")
        for i in range(first, ROWS):
            reply = house.ask(caller, rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
            line = json.dumps([i, reply["outputs"]["predict"][0], reply["charged"]])
            file.write(line + "\n")


def told(written: Path) -> dict[int, tuple[Any, float]]:
    lines = written.read_text().splitlines() if written.exists() else []
    found: dict[int, tuple[Any, float]] = {}
    for line in lines:
        if line != "ready" and line.endswith("]"):
            i, label, charged = json.loads(line)
            assert i not in found or found[i] == (label, charged)  # the same reply to the same key
            found[i] = label, charged
    return found


def kill_while_it_answers(folder: Path, address: str, kills: int) -> None:
    generator, written = random.Random(11), folder / "written"
    for kill in range(kills):
        # The last row again: it may have been answered, and never written down here.
        first = max(told(written), default=-1) + 1
        child = os.fork()
        if child == 0:
            try:
                ask_on_and_on(address, written, first)
            except BaseException:  # noqa: BLE001 - shown beside the parent's failure
                traceback.print_exc()
            finally:
                os._exit(1)
        deadline = time.monotonic() + 120
        while (written.read_text().count("ready\n") if written.exists() else 0) <= kill:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(generator.uniform(0.0, 0.3))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def audit(new_house: Any, folder: Path, address: str) -> None:
    """Hold what was told against the ledger and the stored answers."""
    replies = told(folder / "written")
    heir: House = new_house(found=False, address=address, requests_per_minute=10**9)
    assert heir.wait(60)
    charged = sum(reply[1] for reply in replies.values())
    # Charged before it was told; and at most the one row of each kill was never told.
    assert heir.spent == heir.n_answered * STEP >= charged == len(replies) * STEP
    assert heir.spent - charged <= (len(replies) + 1) * STEP
    caller, rows = heir.user("ann"), contested_rows(ROWS, seed=9)
    for i, (label, _) in replies.items():
        again = heir.ask(caller, rows[i : i + 1])
        assert (again["outputs"]["predict"][0], again["charged"]) == (label, 0.0)
    verify_ledger(heir.coordinator.catalog.ledger("clinic"))


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_kills_of_a_coordinator(new_house: Any, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'service.db'}"
    House(tmp_path, KEY, address=address, ceiling=2.0, step=STEP, lease=3.0).close()
    kill_while_it_answers(tmp_path, address, 3)
    audit(lambda **options: new_house(key=KEY, **options), tmp_path, address)


@pytest.mark.soak
@pytest.mark.timeout(2 * 3600)
@pytest.mark.parametrize("is_server", [False, True], ids=["file", "server"])
def test_five_hundred_kills(
    new_house: Any, tmp_path: Path, is_server: bool, request: pytest.FixtureRequest
) -> None:
    address = f"sqlite:///{tmp_path / 'service.db'}"
    if is_server:
        address = request.getfixturevalue("server").database()
    House(tmp_path, KEY, address=address, ceiling=2.0, step=STEP, lease=3.0).close()
    kills = 10 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 500
    kill_while_it_answers(tmp_path, address, kills)
    audit(lambda **options: new_house(key=KEY, **options), tmp_path, address)


def test_a_restart_on_a_server(server: PostgresServer, new_house: Any) -> None:
    address = server.database()
    first: House = new_house(address=address)
    caller, rows = first.user("ann"), contested_rows(10)
    reply = first.ask(caller, rows, key="k", body=b"b")
    first.close()
    second: House = new_house(address=address)
    assert second.ask(caller, rows, key="k", body=b"b") == reply
    # The server is killed and comes back; what was asked meanwhile is answered later.
    server.kill()
    server.start()
    deadline = time.monotonic() + 30
    again: Any = None
    while again is None:
        assert time.monotonic() < deadline
        again = answer_or_wait(second, caller, rows)
    assert (again["outputs"], again["charged"]) == (reply["outputs"], 0.0)
    fresh: Any = None
    while fresh is None:
        fresh = answer_or_wait(second, caller, contested_rows(1, seed=77))
    assert second.spent == reply["charged"] + fresh["charged"]


def answer_or_wait(house: House, caller: Any, rows: Any) -> Any:
    """Reply, or None when the service is not there at the moment."""
    future = house.begin(caller, rows) if house.coordinator.is_ready else None
    if future is not None and future.exception(60) is None:
        return future.result()
    if future is not None:  # as a web worker would tell it
        assert problem_of(future.exception()).status == 503
    time.sleep(0.1)
    return None
