"""An hour of everyday work: memory of every process, and time of every request, stay as they were.

A history takes longer to load by what verifying the ledger's new rows takes.

Times grow with the load of the machine too: each is held beside that of a request that looks
nothing up, and what processors worked for it more closely than how long it took.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from scipy import stats
from service_house.house import House, contested_rows, v2
from service_house.live import Live

from pacsklearn.testing.fresh_process import close_ledgers

KEY = bytes(range(32))
MINUTES = float(os.environ.get("PACSKLEARN_SOAK_MINUTES", "60"))
PACE = 0.25
MOST_GROWTH = 8.0  # MiB an hour, of which the stored answers and charges are the smaller part
MOST_SLOWER = {"worked": 0.25, "lasted": 1.0}  # parts of the median, an hour
MOST_A_CHARGE = 1e-4  # seconds to verify and to read it when a history is loaded
REFERENCE = "what nobody may do"
N_COPIES, N_LOADS, FEWEST = 8, 3, 8
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LOG = logging.getLogger(__name__)


def resident(process: int) -> float:
    """MiB that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE / 2**20


def worked(process: int) -> float:
    """Seconds that processors have worked for a process, by its clock (clock_getcpuclockid(3))."""
    return time.clock_gettime(~process << 3 | 2)


class Everyday:
    """What a service is asked: rows, new and old, previews, jobs, and the curator's own pages."""

    def __init__(self, live: Live, keys: dict[str, str], processes: list[int]) -> None:
        self._live, self._processes, self._count, self.n_new = live, processes, 0, 0
        self._curator = f"http://127.0.0.1:{live.curator_port}"
        self._headers = {user: {"Authorization": f"Bearer {key}"} for user, key in keys.items()}
        self._rows = contested_rows(100_000, seed=9)
        self._client = httpx.Client(timeout=60)
        self._began = time.monotonic()
        # By kind of request: when, what processors worked for it, and how long it took.
        self.seen: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        self.close = self._client.close

    def step(self) -> None:
        """One request, or a few that belong together."""
        k, model = self._count, f"{self._live.url}/v1/models/risk"
        self._count += 1
        if k % 120 == 0:
            self._job(model)
        elif k % 8 == 0:
            for page in ("/console", "/console/datasets/clinic", "/metrics", "/v1/audit"):
                self._ask(page, "curator", "GET", f"{self._curator}{page}")
        elif k % 8 == 1:
            self._ask("budget", "ann", "GET", f"{model}/budget")
            rows = v2(self._rows[k : k + 20])
            self._ask("preview", "ann", "POST", f"{model}/preview", json=rows)
        elif k % 8 == 2:  # what nobody may do, and what nobody can read
            self._ask(REFERENCE, None, "GET", f"{self._curator}/v1/keys", status=401)
            self._ask("what nobody can read", "ann", "POST", f"{model}/preview", status=422,
                      json={"inputs": k})  # fmt: skip
        else:
            # Bob asks first; later Ann twice under one key, and Bob what he has paid for.
            user, is_new = ("ann", "bob")[k % 2], k % 8 == 3
            n = k if is_new else max(k - k % 8 - 13, 3)
            self.n_new += is_new
            headers = {} if is_new or user == "bob" else {"Idempotency-Key": f"k{n}"}
            kinds = {3: "new row", 4: "row that another has asked", 6: "row asked under one key"}
            self._ask(kinds.get(k % 8, "row paid for"), user, "POST",
                      f"{self._live.url}/v2/models/risk/infer",
                      json=v2(self._rows[n : n + 1]), headers=headers)  # fmt: skip

    def _job(self, model: str) -> None:
        n = 90_000 + self._count % 9_000
        rows = v2(self._rows[n : n + 9])
        told = self._ask("job begun", "ann", "POST", f"{model}/jobs", status=202, json=rows)
        job = f"{self._live.url}/v1/jobs/{told.json()['id']}"
        deadline = time.monotonic() + 60
        while self._ask("job", "ann", "GET", job).json()["status"] != "done":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self._ask("job deleted", "ann", "DELETE", job)  # a user has at most 20
        self.n_new += 9

    def _ask(self, kind: str, user: str | None, method: str, url: str, *, status: int = 200,
             **options: Any) -> Any:  # fmt: skip
        headers = ({} if user is None else self._headers[user]) | options.pop("headers", {})
        if "/console" in url:  # browsers show theirs in a cookie
            key = headers.pop("Authorization").removeprefix("Bearer ")
            headers["Cookie"] = f"pacsklearn_console={key}"
        began, before = time.monotonic(), sum(map(worked, self._processes))
        reply = self._client.request(method, url, headers=headers, **options)
        spent = sum(map(worked, self._processes)) - before
        self.seen[kind].append((began - self._began, spent, time.monotonic() - began))
        assert reply.status_code == status, (url, reply.status_code, reply.text[:300])
        return reply


class Copies:
    """Copies of a service's history while it grew, which are loaded when the service has ended."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._taken = folder, list[tuple[float, Path]]()

    def take(self, now: float) -> None:
        """Copy the database, while nothing is under way, and what says how new it is."""
        copy = self._folder / f"copy-{len(self._taken)}"
        shutil.copytree(self._folder / "high-water", copy / "high-water")
        with sqlite3.connect(self._folder / "service.db") as own:
            with sqlite3.connect(copy / "service.db") as other:
                own.backup(other)
            other.close()
        own.close()
        self._taken.append((now, copy))

    def loaded(self) -> list[tuple[float, float, float]]:
        """When each was copied, and what processors worked until it was loaded, and how long."""
        found = []
        time.sleep(4.0)  # until the lease of the last one has lapsed
        for now, copy in [self._taken[0], *self._taken * N_LOADS]:
            for file in self._folder.glob("service.db*"):
                file.unlink()
            shutil.copytree(copy, self._folder, dirs_exist_ok=True)
            began, before = time.monotonic(), time.process_time()
            house = House(self._folder, KEY, found=False)
            assert house.wait()
            found.append((now, time.process_time() - before, time.monotonic() - began))
            house.close()
            close_ledgers()
        return found[1:]  # the first one has imported what all need


def growth(times: Any, sizes: Any) -> tuple[float, float]:
    """Added in an hour: median of all slopes between two moments, and its lower 99 % limit."""
    found = stats.theilslopes(sizes, np.asarray(times) / 3600, alpha=0.98)
    return float(found.slope), float(found.low_slope)


def slower(seen: dict[str, Any], seconds: float, *, is_sample: bool) -> list[str]:
    """Name kinds of requests that became slower than the reference did, after the first quarter."""
    found: list[str] = []
    for i, (what, most) in enumerate(MOST_SLOWER.items(), start=1):
        usual = 0.0
        for kind in sorted(seen, key=lambda kind: kind != REFERENCE):
            samples = np.asarray([one for one in seen[kind] if one[0] >= seconds / 4])
            if len(samples) < FEWEST:
                continue
            median = np.median(samples[:, i])
            slope, least = np.asarray(growth(samples[:, 0], samples[:, i])) / median
            usual = slope if kind == REFERENCE else usual
            _LOG.info("%s: %s %.2f ms, %+.0f %% (at least %+.0f %%) an hour, in %d requests",
                      kind, what, 1e3 * median, 1e2 * slope, 1e2 * least, len(samples))  # fmt: skip
            # A sample is shorter: there only what has certainly grown by half of it counts.
            most_here = 1800 / seconds if is_sample else most
            if least - max(usual, 0.0) > most_here:
                found.append(f"{kind}: {what}")
    return found


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_memory_and_times_are_constant(tmp_path: Path) -> None:
    """After the first quarter no process grows by 8 MiB an hour, and nothing gets slower."""
    is_sample = os.environ.get("PACSKLEARN_SOAK") == "sample"
    seconds = 20.0 if is_sample else 60 * MINUTES
    (tmp_path / "service.key").write_bytes(KEY)
    (tmp_path / "service.key").chmod(0o600)
    house = House(tmp_path, KEY, ceiling=4.0, step=2.0**-16)
    keys = {user: house.key(user, quota=4.0) for user in ("ann", "bob")}
    keys["curator"] = house.key("curator", "curate")
    house.close()
    close_ledgers()
    live, copies = Live(tmp_path, high_water=str(tmp_path / "high-water")), Copies(tmp_path)
    try:
        live.wait()
        processes = [live.process.pid, *live.workers()]
        work = Everyday(live, keys, processes)
        seen: dict[int, list[tuple[float, float]]] = {each: [] for each in processes}
        began, copied = time.monotonic(), 0
        while (now := time.monotonic() - began) < seconds:
            work.step()
            if now >= (copied + 1) * seconds / (N_COPIES + 1):
                copied += 1
                copies.take(now)
            if now - (seen[processes[0]] or [(-9.0, 0.0)])[-1][0] >= min(10.0, seconds / 40):
                for each in processes:
                    seen[each].append((now, resident(each)))
            time.sleep(max(0.0, PACE - (time.monotonic() - began - now)))
        work.close()
        assert [live.process.pid, *live.workers()] == processes  # none has died meanwhile
        assert '"level": "error"' not in live.text()
        assert live.stop() == 0
    finally:
        live.close()
    for each, samples in seen.items():
        times, sizes = np.asarray([one for one in samples if one[0] >= seconds / 4]).T
        slope, least = growth(times, sizes)
        _LOG.info("process %d: %.1f to %.1f MiB, %.2f (at least %.2f) MiB an hour, %d new rows",
                  each, sizes[0], sizes[-1], slope, least, work.n_new)  # fmt: skip
        # A slope over seconds says nothing about an hour: there only what is certain counts.
        assert (least if is_sample else slope) <= (600.0 if is_sample else MOST_GROWTH)
    assert slower(work.seen, seconds, is_sample=is_sample) == []
    # All rows of the ledger are verified by whoever takes over.
    times, loaded, _ = zip(*copies.loaded(), strict=True)
    slope, least = growth(times, loaded)
    _LOG.info("history loaded: %.0f ms, %.0f (at least %.0f) ms more an hour",
              1e3 * np.median(loaded), 1e3 * slope, 1e3 * least)  # fmt: skip
    most = MOST_A_CHARGE * work.n_new * 3600 / seconds
    if is_sample:  # as of requests: some twenty rows more are less than the noise of a load
        slope, most = least, 1800 / seconds * np.median(loaded)
    assert slope <= most
