"""Every byte that a caller gets is the same with and without any other caller's history."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.recipe import Recipe
from service_house.house import N_COLUMNS, STEP, House, contested_rows, v2

from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.upkeep.backup import mark

INFER, OF = "/v2/models/risk/infer", "/v1/models/risk"
QUOTA = 16 * STEP
ROWS = contested_rows(40, seed=5)
AGREED = np.full((2, N_COLUMNS), 50.0)
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def keyed_draws() -> Any:
    """Answers that are a keyed function of the row, whatever the belief; the belief is learned."""
    draw = Responder.draw

    def keyed(self: Responder, plan: Any) -> Any:
        values, margins = draw(self, plan)
        for i, row in enumerate(plan.predictions):
            digest = hashlib.blake2b(np.ascontiguousarray(row).tobytes(), key=b"key").digest()
            values[i] = type(values[i])(row[digest[0] % len(row)])
        return values, margins

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Responder, "draw", keyed)
        yield


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, dict[str, str]]:
    """Database of a service whose budget is granted to two users, to the last nat."""
    folder, key = tmp_path_factory.mktemp("founded"), secrets.token_bytes(32)
    house = House(folder, key, ceiling=2 * QUOTA)
    keys = {name: house.key(name, quota=QUOTA) for name in ("ann", "bob")}
    house.close()
    return folder / "service.db", key, keys


class Told:
    """What a user is told over HTTP; names drawn at random are numbered in order."""

    def __init__(self, house: House, user: str) -> None:
        self._house, self._user = house, user
        self._names: dict[str, str] = {}
        self.replies: list[Any] = []

    def __call__(self, method: str, path: str, *, wait: str = "", **options: Any) -> Any:
        def once() -> Any:
            return self._house.call(method, path, user=self._user, **options)

        reply, deadline = once(), time.monotonic() + 60
        while wait and reply.json()["status"] in ("queued", "running"):  # how long is not compared
            assert time.monotonic() < deadline
            time.sleep(0.02)
            reply = once()
        told = f"{reply.status_code} {sorted(reply.headers.items())} {reply.content!r}"
        self.replies.append(re.sub(r"\b[0-9a-f]{32}\b", self._numbered, told))
        return reply.json() if "json" in reply.headers.get("content-type", "") else reply.text

    def _numbered(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"<name {len(self._names)}>")


def steps(call: Call, rows: Any) -> Any:
    """Everything that a caller can do, step by step, to the last nat of a quota and beyond."""
    yield call("GET", f"{OF}/budget")
    yield call("POST", f"{OF}/preview", json=v2(rows[:4]))
    yield call("POST", INFER, json=v2(rows[:2]), headers={"idempotency-key": "first"})
    yield call("POST", INFER, json=v2(rows[:2]), headers={"idempotency-key": "first"})
    yield call("POST", INFER, json=v2(rows[1:3]), headers={"idempotency-key": "first"})  # reused
    yield call("POST", INFER, json=v2(np.concatenate([rows[:3], AGREED])))
    yield call("POST", INFER, json=v2(rows[3:9], dry_run=True))
    yield call("POST", INFER, json=v2(rows[3:9], max_charge=STEP))
    made = call("POST", f"{OF}/reservations", json={"amount": 5 * STEP, "seconds": 600.0})
    yield made
    yield call("POST", INFER, json=v2(rows[3:6], reservation=made["id"]))  # contested by both
    yield call("GET", f"{OF}/reservations")
    yield call("POST", INFER, json=v2(rows[6:12], reservation=made["id"]))  # more than it holds
    yield call("GET", f"{OF}/budget")
    yield call("DELETE", f"{OF}/reservations/{made['id']}")
    yield call("DELETE", f"{OF}/reservations/{made['id']}")
    yield call("POST", INFER, json=v2(rows[6:7], reservation=made["id"]))  # it has ended
    job = call("POST", f"{OF}/jobs", json=v2(rows[4:9]))
    yield job
    yield call("GET", f"/v1/jobs/{job['id']}", wait="ended")
    yield call("GET", f"/v1/jobs/{job['id']}/result")
    yield call("GET", f"{OF}/statement")
    yield call("GET", f"{OF}/card")
    yield call("GET", "/v2/models/risk")
    yield call("GET", "/v1/models")
    poor = call("POST", f"{OF}/jobs", json=v2(rows[9:30]))
    yield poor
    yield call("GET", f"/v1/jobs/{poor['id']}", wait="ended")
    yield call("POST", f"{OF}/reservations", json={"amount": 8 * STEP, "seconds": 600.0})
    yield call("POST", INFER, json=v2(rows[9:17]))  # one more than is left
    yield call("POST", INFER, json=v2(rows[9:16]))  # the last of the quota
    yield call("POST", INFER, json=v2(rows[16:17]))
    yield call("POST", INFER, json=v2(rows[:9]))  # paid before
    csv = "x0,x1,x2,x3\n" + ",".join(str(x) for x in rows[0])
    yield call("POST", "/invocations", content=csv, headers={"content-type": "text/csv"})
    yield call("GET", f"{OF}/budget")


def told_ann(folder: Path, founded: Any, others: str) -> list[str]:
    """Ann's replies on a copy of the service, where Bob does nothing, or everything in some order.

    Bob asks the same rows as Ann, before her or step by step with her, or her rows in reverse.
    """
    database, key, keys = founded
    source, copy = sqlite3.connect(database), sqlite3.connect(folder / "service.db")
    with closing(source), closing(copy):
        source.backup(copy)
    mark(f"sqlite:///{folder / 'service.db'}", "clinic")  # of the copy that was asked before
    house = House(folder, key, found=False, keys=keys)
    try:
        assert house.wait(30)
        ann, bob = Told(house, "ann"), Told(house, "bob")
        theirs = {"none": iter(()), "reversed": steps(bob, ROWS[:17][::-1])}.get(
            others, steps(bob, ROWS)
        )
        if others == "before":
            list(theirs)
        for _ in steps(ann, ROWS):
            next(theirs, None)
        assert house.spent <= 2 * QUOTA
        return ann.replies
    finally:
        house.close()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, founded: Any, keyed_draws: None) -> list[str]:
    return told_ann(tmp_path_factory.mktemp("alone"), founded, "none")


@pytest.mark.product(only=1)
@pytest.mark.usefixtures("keyed_draws")
@pytest.mark.parametrize("others", ["before", "beside", "reversed"])
def test_replies_are_about_their_caller_alone(
    alone: list[str], tmp_path: Path, founded: Any, others: str
) -> None:
    told = told_ann(tmp_path, founded, others)
    assert told == alone
    statuses = [reply[:3] for reply in told]
    # The script went where it should: answers, and every refusal that a caller can meet.
    assert {"200", "201", "202", "412", "422", "429"} <= set(statuses)
    assert "403" not in statuses  # the data set never refuses who is within a quota
    assert statuses[-5:] == ["200", "429", "200", "200", "200"]


def curate(house: House, method: str, path: str, **options: Any) -> Any:
    return house.call(method, f"/v1{path}", user="curator", **options)


def quota_of(house: House, name: str, ceiling: float, kind: str = "user", **more: Any) -> Any:
    body = {"kind": kind, "name": name, "ceiling": ceiling, **more}
    return curate(house, "PUT", "/datasets/clinic/quotas", json=body)


def test_quotas_never_exceed_the_budget_unless_the_curator_says_so(new_house: Any) -> None:
    house = new_house(ceiling=10 * STEP)
    for name in ("ann", "bob"):
        assert curate(house, "POST", "/users", json={"name": name}).status_code == 201
    assert quota_of(house, "ann", 6 * STEP).status_code == 200
    refused = quota_of(house, "bob", 5 * STEP)
    assert refused.status_code == 409
    assert house.call("GET", f"{OF}/budget", user=None).status_code == 401
    assert len(curate(house, "GET", "/datasets/clinic/quotas").json()["quotas"]) == 1
    assert quota_of(house, "bob", 4 * STEP).status_code == 200
    # A project's users share its quota: one that does not cover theirs binds them to each other.
    curate(house, "POST", "/projects", json={"name": "trial"})
    assert quota_of(house, "trial", 9 * STEP, "project").status_code == 409
    assert quota_of(house, "trial", 10 * STEP, "project").status_code == 200
    assert quota_of(house, "bob", 5 * STEP, overcommit=True).status_code == 200
    actions = [line["action"] for line in curate(house, "GET", "/audit").json()["lines"]]
    assert "set quota, overcommit" in actions


def test_a_model_is_published_when_its_budget_covers_the_quotas(new_house: Any) -> None:
    house = new_house()
    curate(house, "POST", "/users", json={"name": "ann"})
    assert quota_of(house, "ann", 3.0).status_code == 409  # the model has .6875
    assert quota_of(house, "ann", 0.625).status_code == 200
    recipe = {"name": "small", "dataset": "clinic", "estimator": "GaussianNB", "budget": 0.5,
              "release": {"query_budget": STEP}, "secret": {"n": 16}}  # fmt: skip
    house.coordinator.catalog.fit(Recipe(**recipe), lambda _: None)
    assert curate(house, "POST", "/models/small/publish").status_code == 409
    assert house.call("GET", "/v1/models", user="ann").json() == {"models": ["risk"]}
    given = {"params": {"overcommit": "true"}}
    assert curate(house, "POST", "/models/small/publish", **given).status_code == 200
    assert curate(house, "POST", "/models/none/publish").status_code == 404


def test_the_refusal_of_an_overcommitted_budget_holds_no_number(new_house: Any) -> None:
    """And is the same for rows that somebody has asked as for others, and for any number."""
    house = new_house(ceiling=3 * STEP)
    rows = contested_rows(6)
    house.call("POST", INFER, user="ann", json=v2(rows[:2]))
    refusals = [
        house.call("POST", INFER, user="bob", json=v2(asked))
        for asked in (rows[:2], rows[2:4], rows[1:5])
    ]
    assert [each.status_code for each in refusals] == [403] * 3
    assert len({each.content for each in refusals}) == 1
    assert not re.search(r"\d", refusals[0].json()["detail"])
    assert json.loads(house.call("GET", f"{OF}/budget", user="bob").content)["spent"] == 0.0


def test_one_request_beyond_its_quota_costs_nobody_else_a_refusal(new_house: Any) -> None:
    """Requests that wait together: what a quota refuses takes nothing of what the others share."""
    house = new_house(ceiling=8 * STEP)
    poor, rich = house.user("poor", quota=2 * STEP), house.user("rich", quota=6 * STEP)
    rows = contested_rows(13)
    with house.coordinator.hosted("risk").at_rest():
        beyond = [house.begin(poor, rows[:7]) for _ in range(2)]
        within = house.begin(rich, rows[7:])
    assert within.result(60)["charged"] == 6 * STEP
    assert {each.exception(60).kind for each in beyond} == {"quota-exhausted"}


def test_rows_that_cannot_be_evaluated_are_refused_to_who_asked_them(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, rows = new_house(), contested_rows(3)
    callers = [house.user(name) for name in ("ann", "bob", "eve")]
    predictions = Responder.predictions

    def fail(self: Responder, X: Any, most: int | None = None) -> Any:
        if np.any(np.asarray(X) > 1e30):
            raise OverflowError("of a value")
        return predictions(self, X, most)

    monkeypatch.setattr(Responder, "predictions", fail)
    with house.coordinator.hosted("risk").at_rest():
        asked = [house.begin(callers[i], rows[i : i + 1]) for i in range(2)]
        poisoned = house.begin(callers[2], np.full((1, N_COLUMNS), 1e39))
    assert [each.result(60)["charged"] for each in asked] == [STEP] * 2
    assert poisoned.exception(60).kind == "invalid"
    assert house.spent == 2 * STEP


def test_a_row_beyond_single_precision_is_refused_to_who_asked_a_forest(new_house: Any) -> None:
    house, rows = new_house(), contested_rows(31)
    recipe = {"name": "trees", "dataset": "clinic", "estimator": "RandomForestClassifier",
              "params": {"n_estimators": 2}, "budget": 0.6875,
              "release": {"query_budget": STEP}, "secret": {"n": 4}}  # fmt: skip
    catalog, coordinator = house.coordinator.catalog, house.coordinator
    catalog.fit(Recipe(**recipe), lambda _: None)
    catalog.mark("trees", "published")
    coordinator.load("trees")
    ann, eve = house.user("ann"), house.user("eve")
    poison = np.full((1, N_COLUMNS), 1e39)

    def begin(caller: Caller, some: Any) -> Any:
        signature = coordinator.hosted("trees").signature
        columns = signature.checked(signature.matrix(some), most=10)
        return coordinator.infer("trees", Ask(caller, columns))

    with coordinator.hosted("trees").at_rest():
        asked = [begin(ann, rows[i : i + 1]) for i in range(15)]
        poisoned = begin(eve, poison)
        asked += [begin(ann, rows[i : i + 1]) for i in range(15, 31)]
    assert all(each.result(60)["outputs"]["predict"][0] in (0, 1) for each in asked)
    assert poisoned.exception(60).status == 422
    refused = house.call("POST", "/v2/models/trees/infer", user="eve", json=v2(poison))
    assert refused.status_code == 422
