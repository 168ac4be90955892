"""A database of its own for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from tests.kernel.ledger.postgres_server import PostgresServer

PLUGIN = Provenance("logdet", "pacsklearn.kernel.noise:Logdet", "pacsklearn", "0.1")


@pytest.fixture
def make_event() -> Callable[..., Event]:
    def make(charge: float = 0.1, **changes: Any) -> Event:
        facts: dict[str, Any] = {
            "kind": "responses",
            "charge": charge,
            "unit": "nats",
            "backend": "logdet",
            "bound": charge,
            "n_candidates": 8,
            "n_outputs": 5,
            "n_noisy": 4,
            "provenance": (PLUGIN,),
        }
        return LatticeNoise(**facts | changes)

    return make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger of the clinic #1.db"


@pytest.fixture
def uri(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def ledger(uri: str) -> SharedLedger:
    return SharedLedger.found(uri, ceiling=1.0)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    found = PostgresServer()
    yield found
    found.stop()


@pytest.fixture
def address(server: PostgresServer) -> str:
    return server.database()
