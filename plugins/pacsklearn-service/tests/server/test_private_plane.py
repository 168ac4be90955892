"""What a caller can know: its own budget, a signed statement, reservations and long batches."""

from __future__ import annotations

import base64
import json
import threading
import time
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.store.audit_log import AuditLog
from service_house.house import STEP, House, contested_rows, v2

from pacsklearn.exceptions import LedgerError

INFER = "/v2/models/risk/infer"


def test_a_preview_knows_the_worst_case_only(house: House) -> None:
    rows, before = contested_rows(6, seed=21), house.spent
    house.call("POST", INFER, user="other", json=v2(rows[:3]))
    paid = house.spent
    preview = house.call("POST", "/v1/models/risk/preview", user="pat", json=v2(rows)).json()
    assert preview["worst_case"] == 6 * STEP  # also for what another caller has asked
    house.call("POST", INFER, user="pat", json=v2(rows[:2]))
    preview = house.call("POST", "/v1/models/risk/preview", user="pat", json=v2(rows)).json()
    assert (preview["worst_case"], preview["free"]) == (4 * STEP, 2)
    assert house.spent == paid > before
    csv = "x0,x1,x2,x3\n1,2,3,4\n"
    told = house.call("POST", "/v1/models/risk/preview", user="pat", content=csv,
                      headers={"content-type": "text/csv"})  # fmt: skip
    assert told.json()["worst_case"] == STEP


def test_a_budget_is_the_callers_own(house: House) -> None:
    before = house.call("GET", "/v1/models/risk/budget", user="bea").json()
    house.call("POST", INFER, user="other", json=v2(contested_rows(5, seed=22)))
    assert house.call("GET", "/v1/models/risk/budget", user="bea").json() == before
    assert (before["quota"], before["spent"], before["ceiling"]) == (1.0, 0.0, 4.0)


def test_a_statement_is_signed_and_tells_nothing_of_others(house: House) -> None:
    path = "/v1/models/risk/statement"
    document = house.call("GET", path, user="sam").json()
    house.call("POST", INFER, user="other", json=v2(contested_rows(5, seed=23)))
    assert house.call("GET", path, user="sam").json() == document
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(document["public_key"]))
    signature = base64.b64decode(document["signature"])

    def content(statement: Any) -> bytes:
        return json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()

    key.verify(signature, content(document["statement"]))
    altered = document["statement"] | {"step_budget": 0.0}
    with pytest.raises(InvalidSignature):
        key.verify(signature, content(altered))
    assert document["statement"]["guarantee"]["budget"] == 0.6875
    card = house.call("GET", "/v1/models/risk/card", user="sam").text
    assert card.startswith("# risk\n")
    assert "x3" in card


def test_a_reservation_pays_and_gives_back(house: House) -> None:
    path, budget = "/v1/models/risk/reservations", "/v1/models/risk/budget"

    def standing() -> tuple[float, ...]:
        own = house.call("GET", budget, user="ria").json()
        assert own["spent"] + own["reserved"] + own["remaining"] == own["quota"]
        return own["spent"], own["reserved"]

    made = house.call("POST", path, user="ria", json={"amount": 4 * STEP, "seconds": 60.0})
    assert made.status_code == 201
    name = made.json()["id"]
    assert standing() == (0.0, 4 * STEP)
    rows = contested_rows(3, seed=24)
    paid = house.call("POST", INFER, user="ria", json=v2(rows, reservation=name)).json()
    assert paid["parameters"]["charged"] == 3 * STEP
    assert paid["parameters"]["remaining"] == 1.0 - 4 * STEP
    assert standing() == (3 * STEP, STEP)
    (listed,) = house.call("GET", path, user="ria").json()["reservations"]
    assert (listed["spent"], listed["remaining"]) == (3 * STEP, STEP)
    too_much = contested_rows(2, seed=25)
    refused = house.call("POST", INFER, user="ria", json=v2(too_much, reservation=name))
    assert refused.status_code == 429
    stolen = house.call("POST", INFER, user="other", json=v2(too_much, reservation=name))
    assert stolen.status_code == 404
    assert house.call("DELETE", f"{path}/{name}", user="ria").json()["returned"] == STEP
    assert house.call("DELETE", f"{path}/{name}", user="ria").json()["returned"] == 0.0
    assert standing() == (3 * STEP, 0.0)
    assert house.call("GET", path, user="ria").json()["reservations"] == []
    beyond = house.call("POST", path, user="ria", json={"amount": 2.0, "seconds": 60.0})
    assert beyond.status_code == 429


def test_what_a_reservation_holds_pays_for_nothing_else(house: House) -> None:
    path = "/v1/models/risk/reservations"
    house.key("sue", quota=4 * STEP)
    name = house.call("POST", path, user="sue", json={"amount": 3 * STEP, "seconds": 60.0}).json()[
        "id"
    ]
    again = house.call("POST", path, user="sue", json={"amount": 2 * STEP, "seconds": 60.0})
    assert again.status_code == 429  # nor is it set aside a second time
    rows = contested_rows(4, seed=28)
    assert house.call("POST", INFER, user="sue", json=v2(rows[:2])).status_code == 429
    assert house.call("POST", INFER, user="sue", json=v2(rows[:1])).status_code == 200
    told = house.call("POST", INFER, user="sue", json=v2(rows[1:], reservation=name))
    assert told.json()["parameters"]["remaining"] == 0.0


def test_a_reservation_that_ends_meanwhile_costs_its_owner_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, budget = "/v1/models/risk/reservations", "/v1/models/risk/budget"
    name = house.call("POST", path, user="tim", json={"amount": 4 * STEP, "seconds": 60.0}).json()[
        "id"
    ]
    before = house.call("GET", budget, user="tim").json()
    rows, now = contested_rows(2, seed=27), time.time
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now() + 61.0)
        told = house.call("POST", INFER, user="tim", json=v2(rows, reservation=name))
        assert (told.status_code, "reservation" in told.json()["detail"]) == (429, True)
        after = house.call("GET", budget, user="tim").json()
    assert (after["spent"], after["reserved"]) == (before["spent"], 0.0)
    again = house.call("POST", INFER, user="tim", json=v2(rows)).json()
    assert again["parameters"]["charged"] == 2 * STEP


def test_what_a_reservation_paid_for_survives_a_restart(new_house: Any) -> None:
    house = new_house()
    name = house.call("POST", "/v1/models/risk/reservations", user="ria",
                      json={"amount": 8 * STEP, "seconds": 600.0}).json()["id"]  # fmt: skip
    rows = contested_rows(3, seed=24)
    told = house.call("POST", INFER, user="ria", json=v2(rows, reservation=name)).json()
    house.close()
    heir = new_house()
    again = heir.ask(heir.user("ria"), rows)
    assert again["outputs"]["predict"] == told["outputs"][0]["data"]
    assert heir.ask(heir.user("ria"), contested_rows(1, seed=25))["charged"] == STEP


def test_a_long_batch_reports_and_is_paid_once(house: House) -> None:
    rows, before = contested_rows(400, seed=26) * 1e-3, house.spent
    begun = house.call("POST", "/v1/models/risk/jobs", user="joe", json=v2(rows))
    assert begun.status_code == 202
    job = begun.json()["id"]
    events = house.call("GET", f"/v1/jobs/{job}/events", user="joe")
    assert events.headers["content-type"].startswith("text/event-stream")
    states = [json.loads(line[6:]) for line in events.text.splitlines() if line[:6] == "data: "]
    assert (states[-1]["status"], states[-1]["done"]) == ("done", 400)
    assert house.call("GET", f"/v1/jobs/{job}", user="other").status_code == 404
    result = house.call("GET", f"/v1/jobs/{job}/result", user="joe").json()
    assert len(result["outputs"]["predict"]) == 400
    assert house.spent - before <= 400 * STEP
    paid = house.spent
    told = house.call("POST", INFER, user="joe", json=v2(rows)).json()
    assert told["outputs"][0]["data"] == result["outputs"]["predict"]
    assert house.spent == paid


def test_a_job_taken_over_goes_on_with_what_its_first_owner_had_left(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacsklearn_service.server.answering.jobs._PART", 2)
    house = new_house()
    rows, most = contested_rows(8, seed=27), 5 * STEP
    house.user("joe")
    killed = threading.Event()

    def die(*asked: Any) -> None:  # after the charge of the first part, before its job notes it
        infer(*asked).result(30)
        killed.set()
        raise SystemExit

    infer = house.coordinator.infer
    monkeypatch.setattr(house.coordinator, "infer", die)
    begun = house.call(
        "POST", "/v1/models/risk/jobs", user="joe", json=v2(rows, max_charge=most)
    ).json()
    assert killed.wait(30)
    assert house.spent == 2 * STEP
    with house.coordinator.database.writing() as connection:  # a day without any service
        connection.change("UPDATE service_requests SET created = 0")
    house.coordinator.forget_old()
    house.close()
    heir = new_house()
    state: dict[str, Any] = {"status": "queued"}
    until = time.monotonic() + 30
    while state["status"] not in ("done", "failed") and time.monotonic() < until:
        time.sleep(0.05)
        state = heir.call("GET", f"/v1/jobs/{begun['id']}", user="joe").json()
    # Two parts for what the first owner's part left of the price, where the whole would pay three.
    assert (state["status"], state["done"]) == ("failed", 4), state
    assert "max_charge" in state["detail"]
    assert heir.spent == 4 * STEP
    with heir.coordinator.database.writing() as connection:
        connection.change("UPDATE service_requests SET created = 0")
    heir.coordinator.forget_old()  # the job has ended
    with heir.coordinator.database.reading() as connection:
        assert not connection.ask("SELECT key FROM service_requests")


def test_the_curators_day(house: House) -> None:
    def curate(method: str, path: str, **options: Any) -> Any:
        return house.call(method, f"/v1{path}", user="curator", **options)

    table = "a,b,label\n" + "\n".join(f"{i % 7},{i % 5},{'yes' if i % 2 else 'no'}"
                                      for i in range(60))  # fmt: skip
    params = {"name": "survey", "target": "label", "ceiling": 1.0}
    csv = {"content": table, "headers": {"content-type": "text/csv"}}
    assert curate("POST", "/datasets", params=params, **csv).status_code == 201
    assert curate("POST", "/datasets", params=params, **csv).status_code == 409
    recipe = {"name": "votes", "dataset": "survey", "estimator": "GaussianNB", "budget": 0.5,
              "release": {"n": 100}, "secret": {"n": 8}}  # fmt: skip
    assert curate("POST", "/models", json=recipe | {"estimator": "os.system"}).status_code == 422
    assert curate("POST", "/models", json=recipe | {"dataset": "none"}).status_code == 404
    job = curate("POST", "/models", json=recipe).json()["id"]
    deadline = time.monotonic() + 60
    while curate("GET", f"/jobs/{job}").json()["status"] not in ("done", "failed"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert curate("GET", f"/jobs/{job}").json()["status"] == "done"
    rows = {"inputs": [{"name": "X", "datatype": "FP64", "shape": [1, 2], "data": [1.0, 2.0]}]}
    assert house.call("POST", "/v2/models/votes/infer", user="ann", json=rows).status_code == 404
    assert curate("POST", "/models/votes/publish").json()["status"] == "published"
    loud = curate("POST", "/models", json=recipe | {"name": "loud", "budget": 0.9}).json()["id"]
    while curate("GET", f"/jobs/{loud}").json()["status"] not in ("done", "failed"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # At .9 nats a membership may be told with certainty: such a promise is worth nothing.
    refused = curate("POST", "/models/loud/publish")
    assert refused.status_code == 409
    assert "HIDES NOTHING" in refused.json()["detail"]
    refused = house.call("POST", "/v2/models/votes/infer", user="ann", json=rows)
    assert refused.status_code == 404  # no quota yet
    quota = {"kind": "user", "name": "ann", "ceiling": 0.25}
    assert curate("PUT", "/datasets/survey/quotas", json=quota).status_code == 200
    told = house.call("POST", "/v2/models/votes/infer", user="ann", json=rows).json()
    assert told["outputs"][0]["data"][0] in ("yes", "no")
    spent = curate("GET", "/datasets/survey").json()["spent"]
    assert spent == told["parameters"]["charged"]
    assert curate("GET", "/datasets/survey/quotas").json()["quotas"][0]["spent"] == spent
    verified = curate("POST", "/datasets/survey/ledger/verify").json()
    assert verified["audit_log_is_whole"] is True
    assert curate("POST", "/models/votes/withdraw").is_success
    assert house.call("POST", "/v2/models/votes/infer", user="ann", json=rows).status_code == 404
    lines = curate("GET", "/audit", params={"limit": 1000}).json()["lines"]
    actions = [line["action"] for line in lines]
    assert {"register data set", "fit", "publish", "set quota", "verify", "withdraw"} <= {*actions}
    refusals = [line for line in lines if line["outcome"] != "done"]
    assert refusals[0]["outcome"] == "refused (Problem)"


def test_a_model_is_published_when_it_is_fitted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, catalog = threading.Event(), house.coordinator.catalog

    def fit(recipe: Any, report: Any) -> None:
        go_on.wait(60)
        raise ValueError

    monkeypatch.setattr(catalog, "fit", fit)
    recipe = {"name": "slow", "dataset": "clinic", "estimator": "GaussianNB", "budget": 0.5,
              "release": {"n": 10}}  # fmt: skip
    job = house.call("POST", "/v1/models", user="curator", json=recipe).json()["id"]
    early = house.call("POST", "/v1/models/slow/publish", user="curator")
    assert (early.status_code, "being fitted" in early.json()["detail"]) == (409, True)
    assert house.call("POST", "/v1/models", user="curator", json=recipe).status_code == 409
    with pytest.raises(Problem, match="being fitted"):  # also who came at the same moment
        house.coordinator.jobs.fit(house.user("curator", None), Recipe(**recipe))
    go_on.set()
    deadline = time.monotonic() + 30
    while house.call("GET", f"/v1/jobs/{job}", user="curator").json()["status"] != "failed":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert house.call("POST", "/v1/models/slow/publish", user="curator").status_code == 404


def test_a_line_that_the_disk_did_not_take_is_written_with_the_next(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise LedgerError("disk full")

    house.key("curator", "curate")
    with monkeypatch.context() as patch:
        patch.setattr(AuditLog, "add", full)
        made = house.call("POST", "/v1/users", user="curator", json={"name": "late"})
        assert made.status_code == 503
    house.call("POST", "/v1/users", user="curator", json={"name": "later"})
    lines = house.call("GET", "/v1/audit?limit=1000", user="curator").json()["lines"]
    assert [line["object"] for line in lines][-2:] == ["late", "later"]
