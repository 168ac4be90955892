"""The Open Inference Protocol and MLflow's, as documents say they are."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import numpy as np
import pytest
from pacsklearn_service.server.caller import Ask
from service_house.house import N_COLUMNS, STEP, House, contested_rows, v2

from pacsklearn.kernel.answers.responder import Responder

INFER = "/v2/models/risk/infer"


def test_health_and_metadata(house: House) -> None:
    assert house.call("GET", "/v2/health/live").json() == {"live": True}
    assert house.call("GET", "/v2/health/ready").json() == {"ready": True}
    assert house.call("GET", "/ping").status_code == 200
    found = house.call("GET", "/v2/models/risk", user="ann").json()
    assert found["inputs"] == [{"name": "X", "datatype": "FP64", "shape": [-1, N_COLUMNS]}]
    assert found["outputs"] == [{"name": "predict", "datatype": "INT64", "shape": [-1]}]
    assert house.call("GET", "/v2/models/risk/ready", user="ann").json()["ready"] is True
    assert house.call("GET", "/v2/models/other", user="ann").status_code == 404
    for version in ("2", "01", "x", "9" * 5000):
        path = f"/v2/models/risk/versions/{version}"
        assert house.call("GET", path, user="ann").status_code == 404, path


def test_an_answer_says_what_it_cost(house: House) -> None:
    rows = contested_rows(5)
    before = house.spent
    told = house.call("POST", INFER, user="ann", json=v2(rows)).json()
    parameters = told["parameters"]
    assert parameters["charged"] == 5 * STEP == house.spent - before
    assert (parameters["contested"], parameters["free"]) == (5, 0)
    assert parameters["remaining"] == 1.0 - 5 * STEP
    assert set(told["outputs"][0]["data"]) <= {0, 1}
    named = v2(rows) | {"model_name": INFER.split("/")[-2]}  # as KServe's client does
    again = house.call("POST", INFER, user="ann", json=named).json()
    assert again["outputs"] == told["outputs"]
    assert (again["parameters"]["charged"], again["parameters"]["free"]) == (0.0, 5)
    assert house.spent - before == 5 * STEP


def test_rows_all_candidates_agree_on_are_free(house: House) -> None:
    told = house.call("POST", INFER, user="ann", json=v2(np.full((2, N_COLUMNS), 50.0))).json()
    assert told["parameters"]["charged"] == 0
    assert told["outputs"][0]["data"] == [1, 1]


def test_dry_run_and_max_charge(house: House) -> None:
    rows, before = contested_rows(3, seed=7), house.spent
    dry = house.call("POST", INFER, user="ann", json=v2(rows, dry_run=True)).json()
    assert dry["parameters"]["worst_case"] == 3 * STEP
    refused = house.call("POST", INFER, user="ann", json=v2(rows, max_charge=2 * STEP))
    assert refused.status_code == 412
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["worst_case"] == 3 * STEP
    assert house.spent == before
    assert house.call("POST", INFER, user="ann", json=v2(rows, max_charge=3 * STEP)).is_success


def test_one_row_on_every_wire_is_one_answer(house: House) -> None:
    """FP32, FP64, integers, negative zero, a tensor a column, CSV and Arrow."""
    pa = pytest.importorskip("pyarrow")

    row = np.asarray([[0.0, 1.0, -1.0, 0.0]])
    first = house.call("POST", INFER, user="wires", json=v2(row)).json()
    before = house.spent
    label = first["outputs"][0]["data"]
    forms: list[dict[str, Any]] = [
        {"inputs": [{"name": "a", "datatype": kind, "shape": [1, 4], "data": data}]}
        for kind, data in (("FP32", [0, 1, -1, 0]), ("INT8", [0, 1, -1, 0]),
                           ("FP64", [[-0.0, 1, -1, -0.0]]))
    ]  # fmt: skip
    forms.append(
        {"inputs": [{"name": f"x{i}", "datatype": "FP64", "shape": [1], "data": [row[0, i]]}
                    for i in (2, 0, 3, 1)]}
    )  # fmt: skip
    for form in forms:
        told = house.call("POST", INFER, user="wires", json=form).json()
        assert (told["outputs"][0]["data"], told["parameters"]["charged"]) == (label, 0.0)
    columns = pa.table({f"x{i}": [float(row[0, i])] for i in range(4)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, columns.schema) as stream:
        stream.write_table(columns)
    told = house.call("POST", INFER, user="wires", content=sink.getvalue(),
                      headers={"content-type": "application/vnd.apache.arrow.stream"})  # fmt: skip
    with pa.ipc.open_stream(told.content) as stream:
        found = stream.read_all()
    assert found["predict"].to_pylist() == label
    assert json.loads(found.schema.metadata[b"pacsklearn"])["charged"] == 0.0
    csv = "x0,x1,x2,x3\n0,1,-1,0\n"
    told = house.call(
        "POST", "/invocations", user="wires", content=csv, headers={"content-type": "text/csv"}
    )
    assert told.json()["predictions"] == label
    assert house.spent == before


@pytest.mark.parametrize(
    "body",
    [
        {"instances": [[0.5, 0.5, 0.5, 0.5]]},
        {"inputs": [[0.5, 0.5, 0.5, 0.5]]},
        {"inputs": {f"x{i}": [0.5] for i in range(4)}},
        {"dataframe_split": {"columns": ["x3", "x2", "x1", "x0"], "data": [[0.5] * 4]}},
        {"dataframe_records": [{f"x{i}": 0.5 for i in range(4)}]},
        {"instances": [{f"x{i}": 0.5 for i in range(4)}], "params": None},
    ],
)
def test_mlflow_forms(house: House, body: dict[str, Any]) -> None:
    told = house.call("POST", "/invocations", user="flow", json=body)
    assert told.status_code == 200, told.text
    assert len(told.json()["predictions"]) == 1


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "one of"),
        ({"instances": [[0.5] * 4], "inputs": [[0.5] * 4]}, "one of"),
        ({"instances": [[0.5] * 4, [0.5]]}, "same number"),
        ({"instances": [[0.5] * 4], "parms": {"max_charge": 0.0}}, "parms"),
        ({"inputs": {f"x{i}": 0.5 for i in range(4)}}, "inputs"),
        ({"dataframe_split": {"columns": ["x0", "x0", "x2", "x3"], "data": [[0.5] * 4]}}, "own"),
        ({"dataframe_split": {"columns": ["x0", "x1", "x2"], "data": [[0.5] * 4]}}, "every column"),
        ({"dataframe_records": [{"x0": 0.5}]}, "record"),
    ],
)
def test_what_is_no_form_of_mlflows_is_refused(house: House, body: Any, word: str) -> None:
    told = house.call("POST", "/invocations", user="flow", json=body)
    assert (told.status_code, word in told.json()["detail"]) == (422, True), told.text


def test_binary_tensors(house: House) -> None:
    rows = contested_rows(2, seed=3)
    header = json.dumps(
        {"inputs": [{"name": "X", "datatype": "FP64", "shape": [2, 4],
                     "parameters": {"binary_data_size": rows.nbytes}}],
         "parameters": {"binary_data_output": True}}
    ).encode()  # fmt: skip
    told = house.call("POST", INFER, user="ann", content=header + rows.tobytes(),
                      headers={"inference-header-content-length": str(len(header))})  # fmt: skip
    length = int(told.headers["inference-header-content-length"])
    output = json.loads(told.content[:length])["outputs"][0]
    assert output["parameters"] == {"binary_data_size": 16}
    plain = house.call("POST", INFER, user="ann", json=v2(rows)).json()["outputs"][0]["data"]
    assert np.frombuffer(told.content[length:], dtype="<i8").tolist() == plain


def test_idempotency_key(house: House) -> None:
    rows, headers = contested_rows(2, seed=4), {"idempotency-key": "one"}
    first = house.call("POST", INFER, user="ida", json=v2(rows), headers=headers)
    before = house.spent
    assert house.call("POST", INFER, user="ida", json=v2(rows), headers=headers).content == (
        first.content
    )
    other = house.call("POST", INFER, user="ida", json=v2(rows[:1]), headers=headers)
    assert other.status_code == 422
    assert other.json()["type"].endswith("key-reused")
    # So is the same body at another address.
    named = INFER.replace("/infer", "/versions/1/infer")
    elsewhere = house.call("POST", named, user="ida", json=v2(rows), headers=headers)
    assert "used for another request" in elsewhere.json()["detail"]
    assert house.spent == before
    # The key belongs to the caller: another one's request under it is a new one.
    assert house.call("POST", INFER, user="ivo", json=v2(rows[:1]), headers=headers).is_success


HOSTILE: list[tuple[int, Any, dict[str, str]]] = [
    (400, b"", {}),
    (422, b"[1]", {}),
    (400, b"{" * 100_000, {}),
    (400, b"[" * 100_000, {}),
    (422, b'{"inputs": [NaN]}', {}),
    (422, b'{"inputs": [1e999]}', {}),
    (400, b'{"inputs": [' + b"9" * 5000 + b"]}", {}),
    (400, b"\xff\xfe", {}),
    (415, b"{}", {"content-type": "text/html"}),
    (415, b"{}", {"content-type": "application/x-python-pickle"}),
    (400, b"{}", {"inference-header-content-length": "-1"}),
    (400, b"{}", {"inference-header-content-length": "99999999"}),
    (400, b"no arrow", {"content-type": "application/vnd.apache.arrow.stream"}),
    (415, b"PAR1xxxxPAR1", {"content-type": "application/vnd.apache.parquet"}),
    (422, {"inputs": []}, {}),
    (422, {"inputs": [{"name": "X"}]}, {}),
    (422, v2(np.zeros((1, N_COLUMNS + 1))), {}),
    (422, v2(np.zeros((0, N_COLUMNS))), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), max_charge=-1), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), max_charge="much"), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), dry_run="perhaps"), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), reservation=7), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), max_chrage=0.0), {}),
    (422, v2(np.zeros((1, N_COLUMNS)), max_charge=True), {}),
    (422, v2(np.zeros((1, N_COLUMNS))) | {"outputs": [{"name": "prediction"}]}, {}),
    (422, v2(np.zeros((1, N_COLUMNS))) | {"model_name": "another"}, {}),
    (422, v2(np.zeros((1, N_COLUMNS))) | {"outputs": [{"name": "predict_proba"}]}, {}),
    (404, v2(np.zeros((1, N_COLUMNS)), reservation="none"), {}),
    (404, v2(np.zeros((1, N_COLUMNS)), reservation=""), {}),
    (422, {"inputs": [{"name": "X", "datatype": "INT64", "shape": [1, 4], "data": [0.5] * 4}]}, {}),
    (422, {"inputs": [{"name": "X", "datatype": "FP64", "shape": [2, 4], "data": [[0.0] * 2] * 4}]},
     {}),
    (400, v2(np.zeros((1, N_COLUMNS))), {"idempotency-key": "x" * 300}),
    (413, v2(np.zeros((10_001, N_COLUMNS))), {}),
    (422, {"inputs": [{"name": "X", "datatype": "FP64", "shape": [2**39, 2**39], "data": []}]}, {}),
    (422, {"inputs": [{"name": "X", "datatype": "UINT8", "shape": [1, 4], "data": ["a"] * 4}]}, {}),
    (422, {"inputs": [{"name": "X", "datatype": "BYTES", "shape": [1, 4], "data": ["a"] * 4}]}, {}),
    (422, {"inputs": [{"name": "X", "datatype": "FP64", "shape": [1, 4], "data": [None] * 4}]}, {}),
    (422, {"inputs": [{"name": "X", "datatype": "FP64", "shape": [1, 4], "data": [10**399] * 4}]},
     {}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "headers"), HOSTILE)
def test_hostile_bodies_are_refused(
    house: House, status: int, body: Any, headers: dict[str, str]
) -> None:
    before = house.spent
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    told = house.call("POST", INFER, user="eve", headers=headers, **sent)
    assert told.status_code == status, told.text
    assert told.headers["content-type"] == "application/problem+json"
    assert house.spent == before


def test_a_body_above_the_limit_is_refused(house: House) -> None:
    told = house.call("POST", INFER, user="eve", content=b" " * (17 * 2**20))
    assert told.status_code == 413


def test_nobody_asks_without_a_key(house: House) -> None:
    for path in ("/v2/models/risk", "/v1/models", "/v1/models/risk/budget"):
        assert house.call("GET", path).status_code == 401
    assert house.call("POST", INFER, json=v2(contested_rows(1))).status_code == 401
    right = house.key("ann")
    for wrong in ("", "pac_", right[:-1], right + "x", right.replace("pac_", "pac_0"), "x" * 9999):
        told = house.call("GET", "/v1/models", headers={"authorization": f"Bearer {wrong}"})
        assert told.status_code in (401, 429)


def test_a_curators_key_asks_nothing_and_a_callers_curates_nothing(house: House) -> None:
    curator = {"authorization": f"Bearer {house.key('curator', 'curate')}"}
    told = house.call("POST", INFER, json=v2(contested_rows(1)), headers=curator)
    assert told.status_code == 403
    caller = {"authorization": f"Bearer {house.key('ann')}"}
    for path in ("/v1/users", "/v1/audit", "/metrics", "/v1/datasets", "/v1/keys"):
        assert house.call("GET", path, headers=caller, curator=True).status_code == 403


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (INFER, {"paramaters": {"max_charge": 0.0}}),
        (INFER, {"outputs": [{"name": "predict", "parameter": {}}]}),
        (f"{INFER}?max_charge=0", {}),
        ("/v1/models/risk/preview?max_charge=0", {}),
        ("/v1/models/risk/jobs", {"parameters": {"dry_run": True}}),
        ("/v1/models/risk/jobs", {"parameters": {"reservation": "mine"}}),
        ("/v1/models/risk/jobs?max_charge=0", {}),
        ("/invocations?model=risk&max_charge=0", None),
    ],
)
def test_what_nothing_reads_is_refused_before_it_costs_anything(
    house: House, path: str, change: Any
) -> None:
    rows = contested_rows(2, seed=91)
    before = house.spent
    body = {"instances": rows.tolist()} if change is None else v2(rows) | change
    refused = house.call("POST", path, user="mia", json=body)
    assert refused.status_code == 422, refused.text
    assert refused.json()["error"] == refused.json()["detail"]
    assert house.call("GET", "/v1/models/risk/budget", user="mia").json()["spent"] == 0.0
    assert house.spent == before


def test_a_table_has_its_parameters_in_the_address(house: House) -> None:
    rows, before = contested_rows(2, seed=92), house.spent
    table = "\n".join(["x0,x1,x2,x3", *(",".join(map(str, row)) for row in rows.tolist())])

    def ask(**parameters: Any) -> Any:
        return house.call(
            "POST", "/invocations", user="tab", content=table,
            params={"model": "risk"} | parameters, headers={"content-type": "text/csv"},
        )  # fmt: skip

    assert ask(dry_run=True).json()["parameters"]["worst_case"] == 2 * STEP
    assert ask(max_charge=STEP).status_code == 412
    for wrong in (["0", "1"], "much", "nan", ""):
        assert ask(max_charge=wrong).status_code == 422
    assert house.spent == before
    assert ask(max_charge=2 * STEP).json()["parameters"]["charged"] == 2 * STEP


@pytest.mark.parametrize("kind", ["infer", "invocations"])
def test_a_name_that_stands_twice_is_refused_before_it_costs_anything(
    house: House, kind: str
) -> None:
    rows, before = contested_rows(1, seed=93), house.spent
    table: dict[str, Any] = {"inputs": v2(rows)["inputs"]}
    name, path = "parameters", INFER
    if kind == "invocations":
        table, name, path = {"instances": rows.tolist()}, "params", "/invocations?model=risk"
    for twice in (f'"{name}": {{"max_charge": 0.0}}, "{name}": {{}}',
                  f'"{name}": {{"max_charge": 0.0, "max\\u005fcharge": 1.0}}'):  # fmt: skip
        body = f"{json.dumps(table)[:-1]}, {twice}}}"
        refused = house.call("POST", path, user="mia", content=body,
                             headers={"content-type": "application/json"})  # fmt: skip
        assert (refused.status_code, "stand once" in refused.json()["error"]) == (422, True)
    assert house.spent == before


def test_a_key_gets_its_reply_also_where_a_newer_version_answers(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: House = new_house()
    rows, path = contested_rows(2, seed=61), "/v2/models/risk/infer"

    def ask(key: str, rows: Any = rows) -> Any:
        told = house.call("POST", path, user="ann", json=v2(rows), headers={"Idempotency-Key": key})
        return told.json()

    first, spent = ask("one"), house.spent
    recipe = {"name": "risk", "version": 2, "dataset": "clinic", "budget": 0.5,
              "estimator": "LogisticRegression", "secret": {"n": 16}}  # fmt: skip
    assert house.call("POST", "/v1/models", user="curator", json=recipe).status_code == 202
    deadline = time.monotonic() + 60
    while house.coordinator.jobs.busy:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    publish = "/v1/models/risk@2/publish?overcommit=true"
    assert house.call("POST", publish, user="curator").status_code == 200
    again = ask("one")
    assert again == first
    assert again["model_version"] == "1"
    assert house.spent == spent
    assert "Idempotency-Key" in ask("one", rows[:1])["detail"]  # of another body
    fresh = ask("two")
    assert fresh["model_version"] == "2"
    assert house.spent - spent == pytest.approx(fresh["parameters"]["charged"])
    assert ask("two") == fresh
    # Also of one that answers no longer, or is answering.
    assert house.call("POST", "/v1/models/risk/withdraw", user="curator").status_code == 200
    assert ask("one") == first
    assert house.call("POST", "/v1/models/risk/publish?overcommit=true", user="curator").is_success
    caller, model = house.user("ann"), house.coordinator.hosted("risk@1")
    with model.at_rest():
        waiting = house.coordinator.infer(
            "risk@1", Ask(caller, model.signature.matrix(rows), key="three")
        )
        assert ask("three")["status"] == 409
    waiting.result(60)
    assert house.call("POST", "/v1/models/risk@2/withdraw", user="curator").status_code == 200
    assert ask("two") == fresh
    # Or of one that has charged it, was broken off, and is not loaded.
    with monkeypatch.context() as patch:
        patch.setattr(Responder, "draw", lambda *_: 1 / 0)
        assert ask("four", contested_rows(1, seed=62))["status"] == 500
    house.coordinator.unload("risk")
    assert house.call("POST", publish, user="curator").status_code == 200
    spent = house.spent
    assert ask("four", contested_rows(1, seed=62))["status"] == 409
    assert house.spent == spent
