"""What goes with a user, a quota, a model and a data set; what was charged stays charged."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_service.server.founding import register_curator
from service_house.house import STEP, House, contested_rows, v2

INFER = "/v2/models/risk/infer"


def delete(house: House, path: str) -> int:
    return int(house.call("DELETE", f"/v1/{path}", user="curator").status_code)


def count(house: House, table: str, **where: str) -> int:
    with house.coordinator.database.reading() as connection:
        which = " AND ".join(f'"{name}" = ?' for name in where)
        question = f"SELECT count(*) AS number FROM service_{table} WHERE {which}"  # noqa: S608
        return int(connection.ask(question, *where.values())[0]["number"])


def test_a_user_is_forgotten_and_nothing_comes_back(house: House) -> None:
    rows, headers = contested_rows(2, seed=41), {"idempotency-key": "k"}
    told = house.call("POST", INFER, user="una", json=v2(rows), headers=headers).json()
    reserve = {"amount": STEP, "seconds": 60}
    made = house.call("POST", "/v1/models/risk/reservations", user="una", json=reserve)
    assert made.status_code == 201
    spent = house.spent
    tables = ("paid", "requests")
    assert [count(house, each, user="una") for each in tables] == [2, 1]
    assert count(house, "accounts", name="una") == 2  # the quota, and the reservation
    assert delete(house, "users/una") == 200
    assert delete(house, "users/una") == 404
    assert [count(house, each, user="una") for each in tables] == [0, 0]
    assert count(house, "accounts", name="una") == count(house, "users", name="una") == 0
    assert house.call("GET", "/v1/models", user="una", anew=True).status_code == 401
    assert house.spent == spent
    # Somebody of the same name pays for what is asked; the data set has paid for it.
    again = house.ask(house.user("una"), rows)
    assert (again["outputs"]["predict"], again["charged"]) == (told["outputs"][0]["data"], 2 * STEP)
    assert house.spent == spent


def test_a_quota_is_taken_away(house: House) -> None:
    house.key("quin")
    path = "datasets/clinic/quotas"
    assert delete(house, "datasets/nowhere/quotas/user/quin") == 404
    assert delete(house, f"{path}/user/quin") == 200
    assert delete(house, f"{path}/user/quin") == 404
    assert delete(house, f"{path}/nobody/quin") == 422
    assert house.call("POST", INFER, user="quin", json=v2(contested_rows(1))).status_code == 404


def test_models_and_data_sets_go_in_order_and_their_ledger_stays(new_house: Any) -> None:
    house: House = new_house()
    house.ask(house.user("ann"), contested_rows(2))
    assert delete(house, "models/risk") == 409  # published
    assert house.call("POST", "/v1/models/risk/withdraw", user="curator").status_code == 200
    assert delete(house, "datasets/clinic") == 409
    assert delete(house, "models/risk") == 200
    assert delete(house, "models/risk") == 404
    assert [count(house, each, model="risk") for each in ("progress", "answers", "paid")] == [0] * 3
    assert delete(house, "datasets/clinic") == 200
    assert delete(house, "datasets/clinic") == 404
    assert house.spent == 2 * STEP
    # Under its name nothing is registered with a budget that is whole again.
    refused = house.call(
        "POST", "/v1/datasets?name=clinic&target=y&ceiling=4", user="curator",
        content="x,y\n1,0\n2,1\n", headers={"content-type": "text/csv"},
    )  # fmt: skip
    assert refused.status_code == 409
    assert refused.json()["detail"].endswith("stays; give another name.")
    lines = house.call("GET", "/v1/audit?limit=1000", user="curator").json()["lines"]
    assert {"delete model", "delete data set"} <= {line["action"] for line in lines}


def test_a_curator_who_is_locked_out_gets_a_key_at_the_machine(
    new_house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, path = new_house(), tmp_path / "service.curator"

    def key() -> Any:
        assert path.stat().st_mode & 0o777 == 0o600
        return house.coordinator.callers.find(path.read_text().strip())

    assert register_curator(house.coordinator, path)
    first = key()
    assert first.scopes == {"curate"}
    path.chmod(0o644)
    assert not register_curator(house.coordinator, path)  # while it is valid
    assert register_curator(house.coordinator, path, anew=True)
    assert key().key != first.key
    second = path.read_text()
    with monkeypatch.context() as patch:
        now = time.time()
        patch.setattr("pacsklearn_service.server.founding.time.time", lambda: now + 366 * 86400)
        assert register_curator(house.coordinator, path)
    assert path.read_text() != second
