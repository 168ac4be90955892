"""A service in this process, asked over ASGI: no port, no other process."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra server")

from service_house.house import House

from pacsklearn.testing.fresh_process import close_ledgers
from tests.kernel.ledger.conftest import server

__all__ = ["server"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One service for a whole file; tests of it use users of their own."""
    found = House(tmp_path_factory.mktemp("service"), secrets.token_bytes(32))
    yield found
    found.close()


@pytest.fixture
def new_house(tmp_path: Path) -> Iterator[Any]:
    """Makes services of one database, each as a process of its own would be."""
    made: list[House] = []
    own = secrets.token_bytes(32)

    def make(*, key: bytes = own, **options: Any) -> House:
        made.append(House(tmp_path, key, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'service.db'}"
    else:
        yield request.getfixturevalue("server").database()
    close_ledgers()
