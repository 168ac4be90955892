"""What the tests of the service ask: a data set, a model, users, and clients for both planes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.server import Operations
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.members import Members
from pacsklearn_service.server.store.quotas import Quotas
from pacsklearn_service.server.vault import Vault
from pacsklearn_service.server.web.worker import caller_app, curator_app
from service_house.local_link import LocalLink

STEP = 2.0**-10
N_COLUMNS = 4


def table(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    y = (X @ np.arange(1, N_COLUMNS + 1) + rng.normal(scale=2.0, size=n) > 0).astype(np.int64)
    return X, y


def contested_rows(n: int, seed: int = 1) -> Any:
    """Rows near the origin, where the candidates' boundaries cross."""
    return np.random.default_rng(seed).normal(size=(n, N_COLUMNS)) * 0.01


class House:
    """A coordinator and what is asked of it."""

    def __init__(
        self,
        folder: Path,
        key: bytes,
        *,
        ceiling: float = 4.0,
        step: float = STEP,
        address: str | None = None,
        found: bool = True,
        keys: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.address = address or f"sqlite:///{folder / 'service.db'}"
        own = {"database": self.address, "high_water": folder / "high-water"}
        # The machine may be busy.
        self.settings = Settings(**own | {"lease": 30.0, "seconds": 240.0} | settings)
        self.coordinator = Coordinator(self.settings, Vault(key))
        self.operations = Operations(self.coordinator)
        try:
            self.coordinator.start()
            self.coordinator.open()
        except BaseException:
            self.coordinator.stop()
            raise
        self._keys = dict(keys or {})  # of a copy's users, who have them already
        self._apps: dict[Any, Any] = {}
        self.X, self.y = table()
        self.is_open = True
        if found and self.is_ready(240) and not self.coordinator.catalog.datasets("clinic"):
            self._found(ceiling, step)

    def _found(self, ceiling: float, step: float) -> None:
        columns = {f"x{i}": self.X[:, i] for i in range(N_COLUMNS)} | {"y": self.y}
        catalog = self.coordinator.catalog
        catalog.add_dataset("clinic", columns, "y", ceiling)
        recipe = {"name": "risk", "dataset": "clinic", "estimator": "LogisticRegression",
                  "budget": 0.6875, "secret": {"n": 32},
                  "release": {"query_budget": step}}  # fmt: skip
        catalog.fit(Recipe(**recipe), lambda _: None)
        catalog.mark("risk", "published")
        self.coordinator.load("risk")

    def wait(self, seconds: float = 60) -> bool:
        """Whether the model was answering within the time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.coordinator.is_ready and self.coordinator.answering():
                return True
            time.sleep(0.02)
        return False

    def is_ready(self, seconds: float) -> bool:
        """Whether the coordinator was ready within the time."""
        until = time.monotonic() + seconds
        while not self.coordinator.is_ready and time.monotonic() < until:
            time.sleep(0.02)
        return self.coordinator.is_ready

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.coordinator.stop()

    def user(self, name: str, quota: float | None = 1.0, project: str | None = None) -> Caller:
        with self.coordinator.database.writing("clinic") as connection:
            with suppress(Problem):  # who is there already
                Members(connection).add("user", name, {})
            if quota is not None:
                Quotas(connection, "clinic").set_ceiling("user", name, quota)
        return Caller(name, project, frozenset({"ask"}))

    def key(self, name: str, scope: str = "ask", quota: float = 1.0) -> str:
        if name not in self._keys:
            self.user(name, quota if scope == "ask" else None)
            with self.coordinator.database.writing() as connection:
                self._keys[name] = ApiKeys(connection, self.coordinator.vault).issue(
                    name, None, [scope], 1.0
                )["key"]
        return self._keys[name]

    def ask(self, caller: Caller, rows: Any, **more: Any) -> dict[str, Any]:
        """Reply, past HTTP."""
        return self.begin(caller, rows, **more).result(240)

    def begin(self, caller: Caller, rows: Any, **more: Any) -> Any:
        signature = self.coordinator.hosted("risk").signature
        columns = signature.checked(signature.matrix(rows), most=100_000)
        return self.coordinator.infer("risk", Ask(caller, columns, **more))

    @property
    def n_answered(self) -> int:
        """Rows of the model that were answered, to whomever."""
        with self.coordinator.database.reading() as connection:
            return len(connection.rows("service_answers", model="risk"))

    @property
    def spent(self) -> float:
        return float(self.coordinator.catalog.ledger("clinic").spent)

    def app(self, make: Any, *, anew: bool = False) -> Any:
        """Application of one plane; a new one has no key in its memory."""
        if anew or make not in self._apps:
            self._apps[make] = make(LocalLink(self.operations), self.settings)
        return self._apps[make]

    def call(self, method: str, path: str, *, user: str | None = None, **options: Any) -> Any:
        """One request to the callers' address, or to the curator's for the user ``curator``."""
        is_curator = user == "curator"
        headers = dict(options.pop("headers", {}))
        if user is not None:
            scope = "curate" if is_curator else "ask"
            headers["authorization"] = f"Bearer {self.key(user, scope)}"
        make = curator_app if is_curator or options.pop("curator", False) else caller_app
        app = self.app(make, anew=options.pop("anew", False))

        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, headers=headers, **options)

        return asyncio.run(run())


def v2(rows: Any, **parameters: Any) -> dict[str, Any]:
    rows = np.asarray(rows)
    tensor = {"name": "X", "datatype": "FP64", "shape": list(rows.shape), "data": rows.tolist()}
    return {"inputs": [tensor], "parameters": parameters}
