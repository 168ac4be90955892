from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest

from pacsklearn.cli.named_estimator import named_estimator
from pacsklearn.tabular import Schema


@pytest.fixture
def patients(folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "key": [f"p{i}" for i in range(120)],
            "age": rng.integers(18, 90, 120),
            "ward": rng.choice(["north", "south"], 120),
            "useless": 1,
        }
    )
    frame["ill"] = (frame.age > 50).astype(int)
    frame.to_csv(folder / "patients.csv", index=False, sep=";")
    return frame


def test_from_a_draft_to_a_release_and_its_audit(call, folder, patients):
    words = ("patients.csv", "--target", "ill", "--id", "key", "--drop", "useless")
    found = call("schema", *words, "--output", "book.json", "--json")
    assert json.loads(found.stdout) == {"schema": "book.json", "columns": 2, "open": 2}
    assert "Ignored" not in found.stderr
    drafted = ("--schema", "book.json", "--output", "b.json")
    assert "--schema" not in call("schema", "--help").stdout
    call("schema", *words, *drafted, code=2)
    unnamed = ("--estimator", "LogisticRegression", "--drop", "useless", "--subsets", 8)
    said = call("release", *words[:3], *unnamed, "--nats", 2, "--output", "words.joblib").stderr
    assert "No two rows share a value of key" in said
    assert "Ignored: key, which seem" in call("schema", *words[:3], "--output", "all.json").stderr
    release = (
        "release", *words, "--schema", "book.json", "--estimator", "LogisticRegression",
        "--subsets", 16, "--nats", 2, "--output", "model.joblib",
    )  # fmt: skip
    refused = call(*release, code=2)
    assert "looked up in private rows" in refused.output
    draft = Schema.read(folder / "book.json")
    draft.with_column("age", low=0, high=120).confirm("ward").write(folder / "book.json")
    call(*release)
    model = joblib.load(folder / "model.joblib")
    assert list(model[0].schema.names) == ["age", "ward"]
    assert model.predict(patients).shape == (120,)
    recipe = json.loads((folder / "model.statement.json").read_text())["recipe"]
    assert recipe["schema"]["fields"][0]["name"] == "age"
    call(
        "audit", "patients.csv", "model.statement.json", "--attacks", "identification,lira",
        "--trials", 20, "--json",
    )  # fmt: skip


@pytest.mark.parametrize("stated", ["from table", "book.json"])
def test_every_command_reads_columns_alike(call, folder, patients, stated):
    words = ("patients.csv", "--target", "ill", "--id", "key", "--drop", "useless")
    call("schema", *words, "--output", "draft.json")
    draft = json.loads((folder / "draft.json").read_text())
    for field in draft["fields"]:
        field["pacsklearn"] = {"looked_up": field["pacsklearn"]["looked_up"], "confirmed": True}
    # A codebook says which column is the target, and may describe it too.
    draft["fields"].append({"name": "ill", "type": "boolean"})
    (folder / "book.json").write_text(json.dumps(draft))
    few = ("--schema", stated, "--estimator", "LogisticRegression", "--subsets", 8, "--nats", 1)
    read = ("patients.csv", *(words[1:] if stated == "from table" else words[-2:]))
    call("curve", *read, *few, "--releases", 2)
    student = ("--student", "RidgeClassifier", "--allow-exact", "--output", "model.joblib")
    patients.to_csv(folder / "public.csv", index=False)
    said = call("distill", read[0], "public.csv", *read[1:], *few, *student).stdout
    assert ("looked up: age" in said) == (stated == "from table")


def test_a_draft_names_the_identifiers_that_repeat(call, folder, patients):
    patients["key"] = [f"p{i // 2}" for i in range(120)]
    patients.to_csv(folder / "visits.csv", index=False)
    words = ("visits.csv", "--target", "ill")
    said = call("schema", *words, "--output", "one.json").stderr
    assert "give --groups key here and to the release" in said
    assert "age looks like" not in said
    for told in ("--groups", "--drop"):
        again = call("schema", *words, told, "key", "--output", f"{told[2:]}.json").stderr
        assert "looks like an identifier" not in again


def test_models_that_read_a_schema_get_it(folder):
    schema = Schema.from_table_schema({"fields": [{"name": "age", "type": "boolean"}]})
    assert named_estimator("AdditiveClassifier", None, schema).schema is schema
    named = named_estimator("SchemaEncoder + LogisticRegression", None, schema)
    assert [name for name, _ in named.steps] == ["schemaencoder", "logisticregression"]
    with pytest.raises(ValueError, match="schema"):
        named_estimator("SchemaEncoder + LogisticRegression")


def test_short_names_are_found_and_suggested():
    assert type(named_estimator("SVC")).__name__ == "SVC"
    with pytest.raises(ValueError, match="LogisticRegression"):
        named_estimator("logisticregresion")
    with pytest.raises(ValueError, match="LinearSVC"):
        named_estimator("sklearn.svm.LinearSVM")
    with pytest.raises(ValueError, match="lists"):
        named_estimator("zzzzzzzz")


def test_columns_called_as_persons_and_columns_without_a_value_are_named(call, folder, patients):
    patients.assign(patient_id=np.arange(120) // 3).to_csv(folder / "p.csv", index=False)
    how = ("--estimator", "LogisticRegression", "--subsets", 8, "--nats", 2, "--target", "ill")
    few = (*how, "--drop", "useless,key", "--ledger", "none", "--output", "p.joblib")
    said = call("release", "p.csv", *few, "--force").stderr
    assert "used as features: patient_id" in said
    assert (
        "patient_id"
        not in call("release", "p.csv", *few, "--force", "--groups", "patient_id").stderr
    )
    patients.assign(empty="").to_csv(folder / "p.csv", index=False)
    assert "No row has a value of empty" in call("release", "p.csv", *few, code=2).stderr
