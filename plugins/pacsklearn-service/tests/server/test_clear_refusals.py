"""What a refusal names, so that who reads it knows what to change; it quotes nothing of rows."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from pacsklearn_service.server.problem import Problem, words_of
from pacsklearn_service.server.web.table_body import any_table
from pacsklearn_service.server.web.worker import caller_app
from service_house.house import House, contested_rows, v2

from pacsklearn.cli.options import number

SECRET = 77777.125
JSON = {"content-type": "application/json"}


def refused(house: House, method: str, path: str, user: str = "ann", **options: Any) -> str:
    response = house.call(method, path, user=user, **options)
    assert 400 <= response.status_code < 500, response.text
    detail: str = response.json()["detail"]
    assert str(SECRET) not in response.text
    return detail


def infer(house: House, body: dict[str, Any]) -> str:
    content = json.dumps(body).encode()
    return refused(house, "POST", "/v2/models/risk/infer", content=content, headers=JSON)


def test_a_field_is_named_with_what_it_must_be(house: House) -> None:
    body = v2(contested_rows(2))
    (tensor,) = body["inputs"]
    gap = infer(house, {"inputs": [tensor | {"data": [[SECRET] * 4, [0.0, None, 0.0, 0.0]]}]})
    assert gap.endswith("not valid: inputs.0.data.")
    assert "'FP64'" in infer(house, {"inputs": [tensor | {"datatype": SECRET}]})
    assert "parameters.max_charge (" in infer(house, body | {"parameters": {"max_charge": -1}})
    extra = infer(house, body | {"int": 1})
    assert "int (Extra" in extra
    assert "not ASCII" in infer(house, body | {"é": SECRET})
    split = {"dataframe_split": {"data": [[SECRET, None]]}}
    told = refused(house, "POST", "/invocations?model=risk", json=split)
    assert told.endswith("dataframe_split.data.0.1.")
    quota = {"kind": "usr", "name": "ann", "ceiling": 0.5}
    told = refused(house, "PUT", "/v1/datasets/clinic/quotas", "curator", json=quota)
    assert "body.kind" in told
    assert "'project'" in told


def test_a_body_that_cannot_be_read_is_told_why(house: House) -> None:
    path, content = "/v2/models/risk/infer", gzip.compress(json.dumps(v2([[1.0] * 4])).encode())
    zipped = {"content": content, "headers": JSON | {"content-encoding": "gzip"}}
    assert "Content-Encoding" in refused(house, "POST", path, **zipped)
    path, csv = "/invocations?model=risk", {"content-type": "text/csv"}
    gap = f"x0,x1,x2,x3\n1,{SECRET},3,4\n1,2,,4".encode()
    assert "'x2'" in refused(house, "POST", path, content=gap, headers=csv)
    for content in (b"x0,x1,x2,x3\n", "x0,x1,x2,x3\n1,2,3,é".encode("latin-1")):
        told = refused(house, "POST", path, content=content, headers=csv)
        assert "UTF-8, and a row" in told
    house.key("bare", quota=0.5)
    house.call("DELETE", "/v1/datasets/clinic/quotas/user/bare", user="curator")
    told = refused(house, "POST", "/invocations", "bare", json={"instances": [[1, 2, 3, 4]]})
    assert "quota" in told


def test_a_header_that_stands_twice_is_refused_before_anything_is_charged(house: House) -> None:
    body, before = v2(contested_rows(1, seed=91)), house.spent
    for name in ("Idempotency-Key", "Content-Type"):
        twice = [(name, "application/json"), (name.lower(), "text/csv")]
        told = refused(house, "POST", "/v2/models/risk/infer", json=body, headers=twice)
        assert told == f"The header {name.lower()} stands twice."
    assert house.spent == before


def test_who_goes_away_is_no_defect_of_the_service(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    key = f"Bearer {house.key('ann')}".encode()
    headers = [(b"authorization", key), (b"content-type", b"application/json")]
    path = "/v2/models/risk/infer"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
             "query_string": b"", "headers": headers, "http_version": "1.1",
             "scheme": "http", "server": ("test", 80), "client": ("test", 1)}  # fmt: skip
    asyncio.run(house.app(caller_app, anew=True)(scope, receive, send))
    assert sent[0]["status"] == 400
    assert "a request failed" not in caplog.text


def test_a_fit_that_fails_says_why(house: House) -> None:
    recipe = {"name": "capped", "dataset": "clinic", "estimator": "SVC", "secret": {"n": 8},
              "budget": {"k_of_n": "1:20%"}}  # fmt: skip
    job = house.call("POST", "/v1/models", user="curator", json=recipe).json()["id"]
    deadline = time.monotonic() + 60
    state: dict[str, Any] = {"status": "queued"}
    while state["status"] not in ("done", "failed"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
        state = house.call("GET", f"/v1/jobs/{job}", user="curator").json()
    assert "guessing blindly" in state["detail"]


@pytest.mark.parametrize(
    ("estimator", "release", "way"),
    [("SVC", {"range": [0, 1]}, "Leave it out"), ("Ridge", {}, "State it")],
)
def test_a_range_is_stated_for_numbers_alone(
    house: House, estimator: str, release: dict[str, Any], way: str
) -> None:
    recipe = {"name": "ranged", "dataset": "clinic", "estimator": estimator, "budget": "1/16",
              "secret": {"n": 8}, "release": release}  # fmt: skip
    reply = house.call("POST", "/v1/models", user="curator", json=recipe)
    assert reply.status_code == 422
    assert "release.range is for regressors" in reply.text
    assert way in reply.text


@pytest.mark.parametrize(
    ("budget", "words"),
    [(50, "hides nothing"), ({"membership": "160%"}, "60 % is 0.60"), ("2^-60", "at least 1e-15")],
)
def test_budgets_that_no_fit_takes_are_refused_at_once(
    house: House, budget: Any, words: str
) -> None:
    """They were taken (202), and failed in the job."""
    recipe = {"name": "loud", "dataset": "clinic", "estimator": "GaussianNB", "budget": budget}
    reply = house.call("POST", "/v1/models", user="curator", json=recipe)
    assert reply.status_code == 422
    assert words in reply.text


def test_a_ceiling_that_no_ledger_takes_is_not_valid(house: House) -> None:
    """It was refused as a name that is there already (409)."""
    path = "/v1/datasets?name=faint&target=y&ceiling=1e-300"
    csv = {"content": b"x,y\n1,0\n2,1\n", "headers": {"content-type": "text/csv"}}
    assert "at least 1e-15" in refused(house, "POST", path, user="curator", **csv)
    assert house.call("POST", path, user="curator", **csv).status_code == 422


@pytest.mark.parametrize("ceiling", ["NaN", "Infinity", "1e308"])
def test_a_quota_of_no_amount_is_refused_in_words_that_can_be_read(
    house: House, ceiling: str
) -> None:
    house.user("ann")
    content = f'{{"kind": "user", "name": "ann", "ceiling": {ceiling}}}'.encode()
    path = "/v1/datasets/clinic/quotas"
    told = refused(house, "PUT", path, "curator", content=content, headers=JSON)
    assert "body.ceiling (Input should be less than or equal to 1e+300)" in told


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"\xef\xbb\xbf\n", "is empty"), ("x0,é\n1,2\n".encode("utf-16"), "UTF-8"),
     (b"x0,x1\n1,2,3\n", "as many values")],
)  # fmt: skip
def test_what_is_wrong_with_a_file_of_a_form_is_named(
    house: House, content: bytes, words: str
) -> None:
    with pytest.raises(Problem, match=words) as caught:
        any_table(content, "text/csv", most=10, most_bytes=10**6)
    assert "Content-Encoding" not in caught.value.detail


def test_quotas_of_no_data_set_are_not_an_empty_list(house: House) -> None:
    assert house.call("GET", "/v1/datasets/clinc/quotas", user="curator").status_code == 404


def test_words_of_libraries_are_not_told() -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        np.asarray(["secret"], dtype=float)
    assert words_of(caught.value) == "ValueError"
    with pytest.raises(ValueError, match="1/4") as caught:
        number("much", "budget")
    assert "1/4" in words_of(caught.value)
    assert words_of(ValueError("secret")) == "ValueError"


def test_of_those_who_register_a_name_at_once_one_gets_it(house: House) -> None:
    path = "/v1/datasets?name=at-once&target=y&ceiling=1"
    csv = {"content": b"x,y\n1,0\n2,1\n", "headers": {"content-type": "text/csv"}}
    recipe = {"json": {"name": "at-once", "dataset": "clinic", "estimator": "LogisticRegression",
                       "budget": 0.5, "secret": {"n": 8}}}  # fmt: skip
    asked = [(path, csv, 201), ("/v1/users", {"json": {"name": "at-once"}}, 201),
             ("/v1/models", recipe, 202)]  # fmt: skip
    house.key("curator", "curate")
    with ThreadPoolExecutor(8) as pool:
        for where, what, status in asked:
            call = partial(house.call, "POST", where, user="curator", **what)
            begun = [pool.submit(call) for _ in range(8)]
            told = sorted(each.result().status_code for each in begun)
            assert told == [status] + [409] * 7, where
