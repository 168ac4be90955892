"""Names and amounts at the ends of what a curator can write."""

from __future__ import annotations

from typing import Any

import pytest
from service_house.house import House

QUOTAS = "/v1/datasets/clinic/quotas"


@pytest.mark.parametrize("kind", ["user", "project"])
@pytest.mark.parametrize(
    "name", ["bob\n", "bob\x1b[31m", "b\u00e9", "be\u0301", "Bob", "", "a" * 64]
)
def test_names_that_a_log_or_an_address_could_not_hold(house: House, kind: str, name: str) -> None:
    made = house.call("POST", f"/v1/{kind}s", user="curator", json={"name": name})
    assert made.status_code == 422
    known = house.call("GET", f"/v1/{kind}s", user="curator").json()[f"{kind}s"]
    assert name not in [each["name"] for each in known]


def test_a_name_that_no_database_can_hold_is_nobodys(new_house: Any, address: str) -> None:
    house: House = new_house(address=address)
    for method, path in (
        ("GET", "datasets/%00"), ("GET", "datasets/%00/quotas"), ("GET", "jobs/%00"),
        ("DELETE", "users/%00"), ("DELETE", "keys/%00"),
        ("DELETE", "datasets/clinic/quotas/user/%00"),
    ):  # fmt: skip
        assert house.call(method, f"/v1/{path}", user="curator").status_code == 404, path
    assert house.call("GET", "/v1/jobs/%00", user="ann").status_code == 404


@pytest.mark.parametrize("name", ["risk@abc", "risk@", "risk@0", "risk@-1", "risk@1@2", "@1", "@"])
def test_a_version_that_is_no_number_is_of_no_model(house: House, name: str) -> None:
    for method, path in (
        ("POST", "/publish"), ("POST", "/withdraw"), ("DELETE", ""), ("GET", "/statement"),
    ):  # fmt: skip
        told = house.call(method, f"/v1/models/{name}{path}", user="curator")
        assert told.status_code in (404, 405), (path, told.text)
    house.key("ann", quota=1.0)
    for path in (f"/v1/models/{name}/card", f"/v2/models/{name}", f"/v2/models/{name}/ready"):
        assert house.call("GET", path, user="ann").status_code == 404, path


def test_amounts_whose_sum_is_none(new_house: Any) -> None:
    house: House = new_house()

    def give(name: str, ceiling: float, **more: Any) -> int:
        house.user(name, None)
        body = {"kind": "user", "name": name, "ceiling": ceiling, **more}
        status: int = house.call("PUT", QUOTAS, user="curator", json=body).status_code
        return status

    assert give("ann", 1.7e308, overcommit=True) == 422
    assert [give(each, 1e300, overcommit=True) for each in ("ann", "bob")] == [200, 200]
    assert give("bob", 1e300) == 409
    amount = {"amount": 1.7e308, "seconds": 60.0}
    path = "/v1/models/risk/reservations"
    house.key("ann", quota=1e300)
    assert house.call("POST", path, user="ann", json=amount).status_code == 422
    assert house.call("POST", path, user="ann", json=amount | {"amount": 1e300}).status_code == 201
    assert house.call("POST", path, user="ann", json=amount | {"amount": 1e300}).status_code == 429
