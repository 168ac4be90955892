"""Requests a second over HTTP: the service, beside an endpoint that answers with the bare model.

    python benchmarks/bench_service.py --requests 2000 --clients 32

Both run in processes of their own on this machine, and the clients take their share of it, so what
is comparable is the ratio within one run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

HOUSE = str(Path(__file__).resolve().parents[1] / "plugins/pacsklearn-service/tests")
BARE = """
import sys, numpy as np, uvicorn
from fastapi import FastAPI, Request
from sklearn.linear_model import LogisticRegression
from service_house.house import table
X, y = table()
model, app = LogisticRegression().fit(X, y), FastAPI()
@app.get("/v2/health/ready")
async def ready(): return {}
@app.post("/v2/models/risk/infer")
async def infer(request: Request):
    tensor = (await request.json())["inputs"][0]
    rows = np.asarray(tensor["data"]).reshape(tensor["shape"])
    return {"outputs": [{"data": model.predict(rows).tolist()}]}
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


async def rate(url: str, key: str, rows: Any, *, batch: int, clients: int) -> tuple[float, float]:
    """Rows a second, and the 99th percentile of the seconds that a request took."""
    from service_house.house import v2

    parts = [rows[i : i + batch] for i in range(0, len(rows), batch)]
    seconds: list[float] = []
    headers = {"authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=120) as one:

        async def client(mine: list[Any]) -> None:
            for part in mine:
                began = time.perf_counter()
                reply = await one.post("/v2/models/risk/infer", json=v2(part))
                reply.raise_for_status()
                seconds.append(time.perf_counter() - began)

        began = time.perf_counter()
        await asyncio.gather(*(client(parts[i::clients]) for i in range(clients)))
        spent = time.perf_counter() - began
    return len(rows) / spent, float(np.quantile(seconds, 0.99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    from service_house.house import House, contested_rows
    from service_house.live import Live, free_port

    folder, secret = Path(tempfile.mkdtemp()), bytes(32)
    (folder / "service.key").write_bytes(secret)
    (folder / "service.key").chmod(0o600)
    house = House(folder, secret, ceiling=4.0, step=2.0**-30)
    key = house.key("ann", quota=4.0)
    rows = contested_rows(given.requests, seed=1)
    batches = contested_rows(20_000, seed=2)
    warm = contested_rows(64, seed=3)
    direct = house.coordinator.hosted("risk").responder
    direct.answer(contested_rows(1000, seed=4))
    began = time.perf_counter()
    direct.answer(contested_rows(20_000, seed=5))
    in_process = 20_000 / (time.perf_counter() - began)
    house.close()
    live, port = Live(folder), free_port()
    bare = subprocess.Popen(
        [sys.executable, "-c", BARE, str(port)], env={**os.environ, "PYTHONPATH": HOUSE}
    )
    try:
        live.wait()
        url = f"http://127.0.0.1:{port}"
        while True:
            try:
                httpx.get(f"{url}/v2/health/ready")
                break
            except httpx.HTTPError:
                time.sleep(0.1)

        def measured(name: str, where: str, some: Any, batch: int, most: float | None) -> float:
            found, p99 = asyncio.run(
                rate(where, key, some, batch=batch, clients=given.clients if batch == 1 else 2)
            )
            share = "" if most is None else f"{found / most:6.0%}"
            print(f"{name:<28} {found:10.0f} rows/s  p99 {1e3 * p99:8.1f} ms  {share}")
            return found

        asyncio.run(rate(live.url, key, warm, batch=1, clients=8))
        asyncio.run(rate(url, key, warm, batch=1, clients=8))
        plain = measured("bare model, single rows", url, rows, 1, None)
        measured("contested, single rows", live.url, rows, 1, plain)
        measured("stored, single rows", live.url, rows, 1, plain)
        print(f"{'in process, batches':<28} {in_process:10.0f} rows/s")
        measured("contested, batches of 1,000", live.url, batches, 1000, in_process)
    finally:
        live.close()
        bare.kill()


if __name__ == "__main__":
    sys.path.insert(0, HOUSE)
    main()
