"""One service for a whole file."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra server")

from service_house.house import House
from service_house.serving import serving


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = House(tmp_path_factory.mktemp("client"), secrets.token_bytes(32))
    yield found
    found.close()


@pytest.fixture(scope="module")
def server(house: House) -> Iterator[tuple[str, Any]]:
    with serving(house) as found:
        yield found
