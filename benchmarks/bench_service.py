"""CPU of answers over HTTP, by process: the service, beside an endpoint that has the bare model.

    python benchmarks/bench_service.py --requests 400

One client asks row after row, then batches. What is counted is the time that processors worked for
each process, so that other work on the machine does not count; it still makes caches
cold, so that what is comparable is the ratio within one run. Needs Linux.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HOUSE = str(Path(__file__).resolve().parents[1] / "plugins/pacsklearn-service/tests")
BATCH = 1000
BARE = """
import sys, numpy as np, uvicorn
from fastapi import FastAPI, Request
from sklearn.linear_model import LogisticRegression
from service_house.house import table
X, y = table()
model, app = LogisticRegression().fit(X, y), FastAPI()
@app.post("/v2/models/risk/infer")
async def infer(request: Request):
    tensor = (await request.json())["inputs"][0]
    rows = np.asarray(tensor["data"]).reshape(tensor["shape"])
    return {"outputs": [{"data": model.predict(rows).tolist()}]}
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


def seconds_of(process: int) -> float:
    """CPU seconds of a process so far, by its clock (clock_getcpuclockid(3))."""
    return time.clock_gettime(~process << 3 | 2)


class Client:
    """Somebody who asks one address, over one connection."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask(self, rows: Any) -> None:
        """Ask some rows, and read what is told."""
        from service_house.house import v2

        body = json.dumps(v2(rows))
        self._connection.request("POST", "/v2/models/risk/infer", body, self._headers)
        reply = self._connection.getresponse()
        told = json.loads(reply.read())
        if reply.status != 200:
            raise RuntimeError(str(told))


def measured(
    name: str, ask: Callable[[Any], None], rows: Any, size: int, processes: Mapping[str, int]
) -> float:
    """Print the CPU of a row in ms, by process; their sum."""
    parts = {"client": os.getpid()} | processes
    before = {each: seconds_of(process) for each, process in parts.items()}
    for at in range(0, len(rows), size):
        ask(rows[at : at + size])
    spent = {each: 1e3 * (seconds_of(parts[each]) - before[each]) / len(rows) for each in parts}
    told = "  ".join(f"{each} {spent[each]:6.3f}" for each in parts)
    print(f"{name:<28} {told}  sum {sum(spent.values()):6.3f} ms a row")
    return sum(spent.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=400)
    given = parser.parse_args()
    from service_house.house import House, contested_rows
    from service_house.live import Live, own_port

    folder, apart, secret = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp()), bytes(32)
    (folder / "service.key").write_bytes(secret)
    (folder / "service.key").chmod(0o600)
    house = House(folder, secret, ceiling=4.0, step=2.0**-30)
    key = house.key("ann", quota=4.0)
    house.close()
    rows, warm = contested_rows(given.requests, seed=1), contested_rows(50, seed=3)
    # On a ledger of its own: the service refuses one that was charged for answers it has not.
    house = House(apart, secret, ceiling=4.0, step=2.0**-30)
    direct = house.coordinator.hosted("risk").responder
    direct.answer(contested_rows(BATCH, seed=4))
    began = time.process_time()
    direct.answer(contested_rows(20 * BATCH, seed=5))
    in_process = 1e3 * (time.process_time() - began) / (20 * BATCH)
    house.close()
    live, held = Live(folder), own_port()
    port = held.getsockname()[1]
    bare = subprocess.Popen(
        [sys.executable, "-c", BARE, str(port)], env={**os.environ, "PYTHONPATH": HOUSE}
    )
    try:
        live.wait()
        (worker,) = live.workers("caller")
        service = {"worker": worker, "coordinator": live.process.pid}
        ask, plain = Client(live.port, key).ask, Client(port, key).ask
        for each in (plain, ask):
            for row in warm:
                each(row[None])
        least = measured("bare model, single rows", plain, rows, 1, {"endpoint": bare.pid})
        found = measured("contested, single rows", ask, rows, 1, service)
        print(f"{'':<28} {found / least:.1f} times the bare model's")
        measured("stored, single rows", ask, rows, 1, service)
        print(f"{'in process, batches':<28} {in_process:6.3f} ms a row")
        ask(contested_rows(BATCH, seed=6))
        batches = contested_rows(20 * BATCH, seed=2)
        most = measured(f"contested, batches of {BATCH}", ask, batches, BATCH, service)
        print(f"{'':<28} {in_process / most:.0%} of in process, with the client's part")
    finally:
        live.close()
        bare.kill()
        held.close()


if __name__ == "__main__":
    sys.path.insert(0, HOUSE)
    main()
