"""An hour of everyday work: the memory of every process of a service stays what it was."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from scipy import stats
from service_house.house import House, contested_rows, v2
from service_house.live import Live

KEY = bytes(range(32))
MINUTES = float(os.environ.get("PACSKLEARN_SOAK_MINUTES", "60"))
PACE = 0.25
MOST_GROWTH = 8.0  # MiB an hour, of which the stored answers and charges are the smaller part
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LOG = logging.getLogger(__name__)


def resident(process: int) -> float:
    """MiB that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE / 2**20


class Everyday:
    """What a service is asked: rows, new and old, previews, jobs, and the curator's own pages."""

    def __init__(self, live: Live, keys: dict[str, str]) -> None:
        self._live, self._count, self.n_new = live, 0, 0
        self._curator = f"http://127.0.0.1:{live.curator_port}"
        self._headers = {user: {"Authorization": f"Bearer {key}"} for user, key in keys.items()}
        self._rows = contested_rows(100_000, seed=9)
        self._client = httpx.Client(timeout=60)
        self.close = self._client.close

    def step(self) -> None:
        """One request, or a few that belong together."""
        k, model = self._count, f"{self._live.url}/v1/models/risk"
        self._count += 1
        if k % 120 == 0:
            self._job(model)
        elif k % 8 == 0:
            for page in ("/console", "/console/datasets/clinic", "/metrics", "/v1/audit"):
                self._ask("curator", "GET", f"{self._curator}{page}")
        elif k % 8 == 1:
            self._ask("ann", "GET", f"{model}/budget")
            self._ask("ann", "POST", f"{model}/preview", json=v2(self._rows[k : k + 20]))
        elif k % 8 == 2:  # what nobody may do, and what nobody can read
            assert self._client.get(f"{self._curator}/v1/keys").status_code == 401
            self._ask("ann", "POST", f"{model}/preview", status=422, json={"inputs": k})
        else:
            # Bob asks first; later Ann twice under one key, and Bob what he has paid for.
            user, is_new = ("ann", "bob")[k % 2], k % 8 == 3
            n = k if is_new else max(k - k % 8 - 13, 3)
            self.n_new += is_new
            headers = {} if is_new or user == "bob" else {"Idempotency-Key": f"k{n}"}
            body = v2(self._rows[n : n + 1])
            self._ask(user, "POST", f"{self._live.url}/v2/models/risk/infer",
                      json=body, headers=headers)  # fmt: skip

    def _job(self, model: str) -> None:
        n = 90_000 + self._count % 9_000
        told = self._ask("ann", "POST", f"{model}/jobs", status=202, json=v2(self._rows[n : n + 9]))
        job = f"{self._live.url}/v1/jobs/{told.json()['id']}"
        deadline = time.monotonic() + 60
        while self._ask("ann", "GET", job).json()["status"] != "done":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self._ask("ann", "DELETE", job)  # a user has at most 20
        self.n_new += 9

    def _ask(self, user: str, method: str, url: str, *, status: int = 200, **options: Any) -> Any:
        headers = self._headers[user] | options.pop("headers", {})
        if "/console" in url:  # browsers show theirs in a cookie
            key = headers.pop("Authorization").removeprefix("Bearer ")
            headers["Cookie"] = f"pacsklearn_console={key}"
        reply = self._client.request(method, url, headers=headers, **options)
        assert reply.status_code == status, (url, reply.status_code, reply.text[:300])
        return reply


def growth(times: Any, sizes: Any) -> tuple[float, float]:
    """MiB an hour: the median of all slopes between two moments, and its lower 99 % limit."""
    found = stats.theilslopes(sizes, np.asarray(times) / 3600, alpha=0.98)
    return float(found.slope), float(found.low_slope)


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_memory_is_constant(tmp_path: Path) -> None:
    """After the first quarter no process grows by more than 8 MiB an hour."""
    is_sample = os.environ.get("PACSKLEARN_SOAK") == "sample"
    seconds = 20.0 if is_sample else 60 * MINUTES
    (tmp_path / "service.key").write_bytes(KEY)
    (tmp_path / "service.key").chmod(0o600)
    house = House(tmp_path, KEY, ceiling=4.0, step=2.0**-16)
    keys = {user: house.key(user, quota=4.0) for user in ("ann", "bob")}
    keys["curator"] = house.key("curator", "curate")
    house.close()
    live = Live(tmp_path)
    work = Everyday(live, keys)
    try:
        live.wait()
        processes = [live.process.pid, *live.workers()]
        seen: dict[int, list[tuple[float, float]]] = {each: [] for each in processes}
        began = time.monotonic()
        while (now := time.monotonic() - began) < seconds:
            work.step()
            if now - (seen[processes[0]] or [(-9.0, 0.0)])[-1][0] >= min(10.0, seconds / 40):
                for each in processes:
                    seen[each].append((now, resident(each)))
            time.sleep(max(0.0, PACE - (time.monotonic() - began - now)))
        assert [live.process.pid, *live.workers()] == processes  # none has died meanwhile
        assert '"level": "error"' not in live.text()
        assert live.stop() == 0
    finally:
        work.close()
        live.close()
    for each, samples in seen.items():
        times, sizes = np.asarray([one for one in samples if one[0] >= seconds / 4]).T
        slope, least = growth(times, sizes)
        _LOG.info("process %d: %.1f to %.1f MiB, %.2f (at least %.2f) MiB an hour, %d new rows",
                  each, sizes[0], sizes[-1], slope, least, work.n_new)  # fmt: skip
        # A slope over seconds says nothing about an hour: there only what is certain counts.
        assert (least if is_sample else slope) <= (600.0 if is_sample else MOST_GROWTH)
