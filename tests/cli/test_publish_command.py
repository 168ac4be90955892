from __future__ import annotations

import json
import os

import joblib
import pytest

pytest.importorskip("skops", reason="skops is not installed")
pytest.importorskip("cryptography", reason="cryptography is not installed")


@pytest.fixture
def published(call, folder):
    call("ledger", "found", "clinic.db", "--ceiling", "1")
    call(
        "release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier", "--subsets",
        16, "--output", "m.joblib", "--ledger", "sqlite:///clinic.db",
    )  # fmt: skip
    call("key", "curator.key")
    (folder / "about.json").write_text(json.dumps({"title": "Irises", "data": "150 flowers"}))
    return call(
        "publish", "m.joblib", "--output", "m.pac", "--key", "curator.key", "--about",
        "about.json", "--onnx", "none", "--json",
    )  # fmt: skip


def test_from_rows_to_a_verified_bundle(published, call, folder):
    assert json.loads(published.stdout)["schema"] == "pacsklearn-bundle/1"
    told = call("verify", "m.pac", "--key", "curator.key.pub", "--ledger", "sqlite:///clinic.db")
    assert "signature, files, guarantee, model, ledger" in told.stdout
    assert "can tell whether any one row was used" in " ".join(told.stdout.split())
    said = call("verify", "m.pac", "--key", "curator.key.pub", "--json")
    assert json.loads(said.stdout)["verified"] == ["signature", "files", "guarantee", "model"]


def test_what_is_wrong_is_one_sentence(published, call, folder):
    call("key", "other.key")
    result = call("verify", "m.pac", "--key", "other.key.pub", code=2)
    assert "Another key signed" in result.output
    call("ledger", "found", "other.db", "--ceiling", "1")
    words = ("verify", "m.pac", "--key", "curator.key.pub", "--ledger", "sqlite:///other.db")
    assert "does not hold row 1" in call(*words, code=2).output
    (folder / "m.pac").write_bytes((folder / "m.pac").read_bytes() + b"x")
    result = call("verify", "m.pac", "--key", "curator.key.pub", code=2)
    assert "belong to none of its members" in result.output
    words = ("publish", "m.joblib", "--output", "m.pac", "--key", "curator.key")
    assert "m.pac" in call(*words, code=2).output  # it is there
    joblib.dump({}, folder / "d.joblib")
    words = ("publish", "d.joblib", "--output", "n.pac", "--key", "curator.key")
    assert "holds no released model" in call(*words, code=2).output
    (folder / "about.json").write_text("[]")
    words = ("publish", "m.joblib", "--output", "n.pac", "--key", "curator.key")
    assert "JSON object" in call(*words, "--about", "about.json", code=2).output
    assert "no file" in call("publish", "x", *words[2:], code=2).output
    if os.name == "posix":
        (folder / "d.joblib").chmod(0o666)
        assert "can be written by others" in call("publish", "d.joblib", *words[2:], code=2).output
