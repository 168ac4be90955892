"""Every operation of both OpenAPI documents under generated requests: no 5xx, no traceback."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

import pytest

pytest.importorskip("schemathesis", reason="needs schemathesis")

with warnings.catch_warnings():  # it asks hypothesis and jsonschema for names they have renamed
    warnings.simplefilter("ignore")
    import schemathesis

from hypothesis import HealthCheck, Phase, given, seed, settings
from pacsklearn_service.server.web.worker import caller_app, curator_app
from service_house.house import House
from service_house.local_link import LocalLink


def run(house: House, plane: str, cases: int) -> int:
    """Send generated requests to every operation; how many were sent."""
    make = curator_app if plane == "curator" else caller_app
    app = make(LocalLink(house.operations), house.settings)
    user = "curator" if plane == "curator" else "fuzz"
    key = house.key(user, "curate" if plane == "curator" else "ask")
    sent = 0
    statuses: dict[int, int] = {}
    schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [result.ok() for result in schema.get_all_operations()]
    names = {"model": "risk", "dataset": "clinic", "version": "1"}
    count = 0
    while sent < cases:  # operations without parameters have few cases each
        count += 1
        for operation in operations:

            @seed(count)
            @settings(
                max_examples=max(1, min(cases // len(operations), 200)),
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy())
            def sends(case: Any) -> None:
                nonlocal sent
                for name in set(names) & set(case.path_parameters or {}):
                    if sent % 4:  # most of them reach what is there
                        case.path_parameters[name] = names[name]
                response = case.call(headers={"Authorization": f"Bearer {key}"})
                sent += 1
                statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
                assert response.status_code < 500, (case.path, response.status_code, response.text)
                if response.status_code >= 400:
                    kind = response.headers["content-type"][0]
                    assert kind == "application/problem+json", (case.path, response.text)

            sends()
    logging.getLogger(__name__).info("%s: %s", plane, statuses)
    assert statuses.get(200, 0) + statuses.get(201, 0) + statuses.get(202, 0) > sent // 20
    assert statuses.get(401, 0) < sent // 20  # the key was shown, and the work was done
    return sent


@pytest.fixture
def unrationed(new_house: Any) -> House:
    found: House = new_house(
        requests_per_minute=10**9, previews_per_minute=10**9, failures_per_minute=10**9
    )
    return found


@pytest.mark.soak
@pytest.mark.parametrize("plane", ["caller", "curator"])
def test_generated_requests(unrationed: House, plane: str) -> None:
    assert run(unrationed, plane, 25) >= 25


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_twenty_thousand_generated_requests_a_plane(unrationed: House) -> None:
    cases = 300 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 20_000
    sent = run(unrationed, "caller", cases) + run(unrationed, "curator", cases)
    assert sent >= 2 * cases
