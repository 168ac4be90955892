"""Models that were fitted in Python, and bundles that were signed, behind a service."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from service_house.house import N_COLUMNS, STEP, House, contested_rows, v2
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from pacsklearn import PACPrivate, PrivacySession, Subsets
from pacsklearn.cli.app import app
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.tabular import Column, Schema, SchemaEncoder
from pacsklearn.testing.fresh_process import close_ledgers


def add(folder: Path, house: House, model: Path, key: Path, *words: str, code: int = 0) -> str:
    """Run ``pacsklearn service add`` beside the service that runs."""
    config = folder / "service.toml"
    config.write_text(f'database = "{house.address}"\nkey_file = "{folder / "service.key"}"\n')
    told = CliRunner().invoke(app, [
        "service", "add", str(model), "--name", "risk", "--version", "2", "--dataset", "clinic",
        "--key", str(key), "--config", str(config), *words,
    ])  # fmt: skip
    assert told.exit_code == code, told.output
    return told.output


@pytest.fixture
def own(new_house: Any, tmp_path: Path) -> House:
    key = bytes(range(32))
    file = tmp_path / "service.key"
    file.touch(mode=0o600)
    file.write_bytes(key)
    found: House = new_house(key=key)
    return found


def infer(house: House, rows: Any, version: str = "") -> Any:
    path = f"/v2/models/risk{version}/infer"
    return house.call("POST", path, user="ann", json=v2(rows))


def finished_job(house: House, rows: Any) -> str:
    job = house.call("POST", "/v1/models/risk/jobs", user="ann", json=v2(rows)).json()
    deadline = time.monotonic() + 60
    while job["status"] in ("queued", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
        job = house.call("GET", f"/v1/jobs/{job['id']}", user="ann").json()
    assert job["status"] == "done"
    return str(job["id"])


@pytest.mark.soak
def test_a_session_that_was_opened_in_python_answers(own: House, tmp_path: Path) -> None:
    ledger = SharedLedger(own.address, dataset="clinic")
    session = PrivacySession(own.X, own.y, budget=0.5, secret=Subsets(8), ledger=ledger)
    session.responder(LogisticRegression(C=0.5), query_budget=STEP)
    key = tmp_path / "session.key"
    key.touch(mode=0o600)
    key.write_bytes(bytes(32))
    session.save(tmp_path / "risk.session", key=key)
    session.close()
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({
        "estimator": "LogisticRegression", "params": {"C": 0.5}, "release": {"query_budget": STEP}
    }))  # fmt: skip
    words = "--recipe", str(recipe)
    assert "risk@2" in add(tmp_path, own, tmp_path / "risk.session", key, *words)
    again = add(tmp_path, own, tmp_path / "risk.session", key, *words, code=2)
    assert "already" in again
    rows = contested_rows(5)
    first = infer(own, rows).json()
    assert (first["model_version"], first["parameters"]["charged"]) == ("1", 5 * STEP)
    job = finished_job(own, rows)
    assert infer(own, rows, "/versions/2").status_code == 404  # until it is published
    assert own.call("POST", "/v1/models/risk@2/publish", user="curator").status_code == 409
    publish = "/v1/models/risk@2/publish?overcommit=true"
    assert own.call("POST", publish, user="curator").status_code == 200
    # A job's answers are those of the version that it was begun with, and cost nothing more.
    told = own.call("GET", f"/v1/jobs/{job}/result", user="ann").json()
    assert told["outputs"]["predict"] == first["outputs"][0]["data"]
    assert np.isclose(own.spent, 5 * STEP)
    newest = infer(own, rows).json()
    assert newest["model_version"] == "2"
    assert newest["parameters"]["charged"] == 5 * STEP
    assert infer(own, rows, "/versions/2").json()["parameters"]["charged"] == 0.0
    first = infer(own, rows, "/versions/1").json()
    assert (first["model_version"], first["parameters"]["charged"]) == ("1", 0.0)
    told = own.call("GET", "/v2/models/risk", user="ann").json()
    assert told["versions"] == ["1", "2"]
    assert own.call("GET", "/v1/models", user="ann").json() == {"models": ["risk"]}
    lines = own.call("GET", "/v1/audit", user="curator").json()["lines"]
    assert ("add model", "risk@2") in [(each["action"], each["object"]) for each in lines]
    assert np.isclose(own.spent, 10 * STEP)
    assert infer(own, rows).json()["model_version"] == "2"
    assert own.call("POST", "/v1/models/risk@2/withdraw", user="curator").status_code == 200
    assert infer(own, rows).json()["model_version"] == "1"


@pytest.mark.soak
def test_a_session_of_a_mixed_table_keeps_the_kinds_of_its_columns(own: House) -> None:
    town = np.where(own.X[:, 0] > 0, "Aarau", "Bern")
    X = pd.DataFrame(own.X, columns=list("abcd")).assign(town=town)
    ledger = SharedLedger(own.address, dataset="clinic")
    session = PrivacySession(X, own.y, budget=0.5, secret=Subsets(8), ledger=ledger)
    state = session.state()
    session.close()
    own.coordinator.catalog.add_session(state, {
        "name": "mixed", "dataset": "clinic", "estimator": "OneHotEncoder+LogisticRegression",
        "params": {"onehotencoder__handle_unknown": "ignore"}, "release": {"query_budget": STEP},
    })  # fmt: skip
    told = own.coordinator.catalog.model("mixed")["signature"]
    kinds = {each["name"]: each["kind"] for each in told}
    assert kinds == dict.fromkeys("abcd", "number") | {"town": "text"}


def test_a_recipe_that_is_refused_costs_no_session(own: House, tmp_path: Path) -> None:
    ledger = SharedLedger(own.address, dataset="clinic")
    session = PrivacySession(own.X, own.y, budget=0.5, secret=Subsets(8), ledger=ledger)
    (key := tmp_path / "session.key").touch(mode=0o600)
    key.write_bytes(bytes(32))
    session.save(tmp_path / "risk.session", key=key)
    session.close()
    recipe = tmp_path / "recipe.json"
    option = "--recipe", str(recipe)
    for words, release, params in (
        ("either query_budget", {"query_budget": STEP, "n": 4}, {}),
        ("Ask for at most 0.5", {"query_budget": 0.6}, {}),
        ("could not be fitted", {"query_budget": STEP}, {"C": "a"}),
        ("risk@2", {"query_budget": STEP}, {}),
    ):
        stated = {"estimator": "LogisticRegression", "params": params, "release": release}
        recipe.write_text(json.dumps(stated))
        code = 0 if words == "risk@2" else 2
        told = add(tmp_path, own, tmp_path / "risk.session", key, *option, code=code)
        assert words in told
    close_ledgers()


def test_a_session_without_a_recipe_is_told_from_a_bundle(own: House, tmp_path: Path) -> None:
    ledger = SharedLedger(own.address, dataset="clinic")
    session = PrivacySession(own.X, own.y, budget=0.5, secret=Subsets(8), ledger=ledger)
    (key := tmp_path / "session.key").touch(mode=0o600)
    key.write_bytes(bytes(32))
    session.save(tmp_path / "risk.session", key=key)
    session.close()
    assert "--recipe must" in add(tmp_path, own, tmp_path / "risk.session", key, code=2)
    close_ledgers()


def test_a_signed_bundle_answers_for_free(own: House, tmp_path: Path) -> None:
    publishing = pytest.importorskip("pacsklearn_publish")
    signature = pytest.importorskip("pacsklearn_publish.signature")
    model = PACPrivate(LogisticRegression(), secret=Subsets(8)).fit(own.X, own.y)
    private, public = signature.make_key(tmp_path / "curator.key")
    path = publishing.publish(model, tmp_path / "risk.pac", key=private)
    _, other = signature.make_key(tmp_path / "other.key")
    assert "sign" in add(tmp_path, own, path, other, code=2)
    said = add(tmp_path, own, path, private, code=2)
    assert "curator.key.pub" in said
    assert private.read_text().splitlines()[1] not in said
    (broken := tmp_path / "recipe.json").write_text("[1]")
    for words, wrong in ((("--name", "Risk "), "name"), (("--version", "9" * 11), "version"),
                         (("--recipe", str(broken)), "JSON object")):  # fmt: skip
        said = add(tmp_path, own, path, public, *words, code=2)
        assert wrong in said
        assert "withheld" not in said
    assert "risk@2" in add(tmp_path, own, path, public)
    assert own.call("POST", "/v1/models/risk@2/publish", user="curator").status_code == 200
    rows, before = contested_rows(20), own.spent
    told = infer(own, rows).json()
    assert told["parameters"]["charged"] == 0.0
    released = publishing.load_bundle(path, key=public).model()
    assert told["outputs"][0]["data"] == released.predict(rows).tolist()
    assert own.spent == before
    own.user("idle", None)
    refused = own.call("POST", "/v2/models/risk/infer", json=v2(rows),
                       headers={"authorization": f"Bearer {own.key('idle', quota=None)}"})  # type: ignore[arg-type] # fmt: skip
    assert refused.status_code == 404
    assert infer(own, np.full((1, N_COLUMNS), 1e308)).status_code in (200, 422)
    card = own.call("GET", "/v1/models/risk/card", user="ann")
    assert "Promise" in card.text
    page = own.call("GET", "/v1/models/risk/preview", user="ann")
    assert page.status_code == 405
    preview = own.call("POST", "/v1/models/risk/preview", user="ann", json=v2(rows)).json()
    assert preview["worst_case"] == 0.0
    close_ledgers()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # only told by a server
def test_a_bundle_refuses_rows_whose_answers_are_no_numbers(own: House, tmp_path: Path) -> None:
    publishing = pytest.importorskip("pacsklearn_publish")
    model = PACPrivate(Ridge(), budget=0.25, secret=Subsets(8)).fit(own.X, 1e3 * own.X[:, 0])
    private, public = publishing.make_key(tmp_path / "curator.key")
    path = publishing.publish(model, tmp_path / "m.pac", key=private, onnx="none")
    add(tmp_path, own, path, public)
    assert own.call("POST", "/v1/models/risk@2/publish", user="curator").status_code == 200
    assert infer(own, np.ones((1, N_COLUMNS))).status_code == 200
    refused = infer(own, np.full((1, N_COLUMNS), 1.7e308))
    assert (refused.status_code, "finite" in refused.json()["detail"]) == (422, True)
    close_ledgers()


@pytest.mark.parametrize("kind", ["categories", "numbers", "schema"])
def test_a_bundle_of_a_table_reads_what_its_model_reads(
    own: House, tmp_path: Path, kind: str
) -> None:
    publishing = pytest.importorskip("pacsklearn_publish")
    n = len(own.y)
    table = pd.DataFrame({"age": np.arange(float(n)), "rank": np.arange(n) % 3 + 0.5})
    table["ward"] = np.where(own.X[:, 3] > 0, "north", "south")
    table["smoker"] = np.where(own.X[:, 2] > 0, "yes", "no")
    names = ["age", "rank"] if kind == "numbers" else ["age", "ward", "smoker"]
    words = OneHotEncoder(categories=[["north", "south"]])
    parts = {
        "categories": [("a", StandardScaler(), ["age"]), ("w", words, ["ward"])],
        "numbers": [("a", StandardScaler(), ["age"]), ("r", "passthrough", ["rank"])],
    }
    codebook = Schema([
        Column("age", low=0, high=200), Column("ward", "category", categories=("north", "south")),
        Column("smoker", "boolean", categories=("no", "yes")),
    ])  # fmt: skip
    first = SchemaEncoder(codebook) if kind == "schema" else ColumnTransformer(parts[kind])
    names = ["age", "ward"] if kind == "categories" else names
    model = PACPrivate(make_pipeline(first, LogisticRegression()), budget=0.25, secret=Subsets(8))
    model.fit(table[names], own.y)
    private, public = publishing.make_key(tmp_path / "curator.key")
    about = {"title": kind}
    path = publishing.publish(model, tmp_path / "m.pac", key=private, about=about, onnx="none")
    add(tmp_path, own, path, public)
    assert own.call("POST", "/v1/models/risk@2/publish", user="curator").status_code == 200
    asked = {"instances": table[names].head(30).to_dict("records")}
    told = own.call("POST", "/invocations?model=risk", user="ann", json=asked)
    assert told.json().get("predictions") == model.predict(table[names].head(30)).tolist()
    close_ledgers()
