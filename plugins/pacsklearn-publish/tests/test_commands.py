from __future__ import annotations

import errno
import json
import os

import joblib
import numpy as np
import pandas as pd
import pytest
from pacsklearn_publish import load_bundle

from pacsklearn.exceptions import BundleError
from pacsklearn.universe.open_ledger import open_ledger


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
    told = call("verify", "m.pac", "--key", "curator.key.pub", "--ledger", "clinic.db")
    assert "signature, files, guarantee, model, ledger" in told.stdout
    assert "can tell whether any one row was used" in " ".join(told.stdout.split())
    assert len(told.stdout.splitlines()) < 40
    everything = call("verify", "m.pac", "--key", "curator.key.pub", "--all").stdout
    assert "not covered" in everything
    assert "not covered" not in told.stdout
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
    for other in ("rows.csv", "m.statement.json"):  # bytes that are no pickle raised anything
        assert "holds no model" in call("publish", other, *words[2:], code=2).output
    if os.name == "posix":
        (folder / "d.joblib").chmod(0o666)
        assert "can be written by others" in call("publish", "d.joblib", *words[2:], code=2).output


def test_a_released_model_is_written_as_a_signed_bundle(folder, keys, call):
    about = folder / "about.json"
    about.write_text(json.dumps({"title": "Irises"}), encoding="utf-8-sig")  # as Windows may
    words = ["release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16,
             "--output", folder / "m.pac", "--key", keys[0], "--about", about]  # fmt: skip
    assert "a verified bundle" in call(*words).output
    bundle = load_bundle(folder / "m.pac", key=keys[1])
    assert "# Irises" in bundle.card
    stated = json.loads((folder / "m.statement.json").read_text())
    assert bundle.guarantee.budget == stated["guarantee"]["budget"]
    assert not list(folder.glob("*.joblib"))


@pytest.mark.soak
def test_a_student_is_written_as_a_signed_bundle(folder, keys, call):
    call("distill", "rows.csv", "public.csv", "--estimator", "RidgeClassifier", "--student",
                   "GaussianNB", "--target", "kind", "--nats", "1/2", "--subsets", 16,
                   "--output", folder / "s.pac", "--key", keys[0])  # fmt: skip
    bundle = load_bundle(folder / "s.pac", key=keys[1])
    assert type(bundle.model()).__name__ == "GaussianNB"
    assert bundle.signed_by


def test_a_student_that_must_not_be_published_charges_nothing(folder, keys, call):
    """What a nat implies is at least 99.99 %: the answers were charged, and the student refused."""
    ledger = f"sqlite:///{folder / 'l.db'}"
    call("ledger", "found", ledger, "--ceiling", "9")
    words = ("distill", "rows.csv", "public.csv", "--estimator", "RidgeClassifier", "--student",
             "GaussianNB", "--target", "kind", "--subsets", 16, "--ledger", ledger,
             "--output", folder / "s.pac", "--key", keys[0])  # fmt: skip
    assert "would hide nothing" in call(*words, "--nats", "1", code=2).output
    exact = ("--nats", "1", "--allow-exact")
    assert "HIDES NOTHING" in call(*words, *exact, code=2).output
    assert open_ledger(ledger, ceiling=None).spent == 0
    assert not list(folder.glob("s.*"))


def test_what_cannot_sign_charges_nothing(folder, keys, call):
    ledger = f"sqlite:///{folder / 'l.db'}"
    call("ledger", "found", ledger, "--ceiling", "1")
    bad = folder / "bad.json"
    bad.write_text('{"titel": "x"}')
    for more in (["--key", keys[1]], ["--key", keys[0], "--about", bad], ["--about", bad],
                 ["--key", folder / "none.key"]):  # fmt: skip
        call("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16,
                       "--nats", "1/4", "--output", folder / "m.pac", "--ledger", ledger,
                       *more, code=2)  # fmt: skip
    assert open_ledger(ledger, ceiling=None).spent == 0
    assert not list(folder.glob("m.*"))


@pytest.mark.soak
def test_a_table_with_text_and_gaps_becomes_a_bundle(call, folder):
    """The budget was spent, and then there was no bundle."""
    rng = np.random.default_rng(0)
    patients = pd.DataFrame(
        {
            "key": [f"p{i}" for i in range(120)],
            "age": rng.integers(18.0, 90.0, 120),
            "ward": rng.choice(["north", "south"], 120),
        }
    )
    patients["ill"] = (patients.age > 50).astype(int)
    patients["age"] = patients.age.mask(patients.index % 9 == 0)
    patients.to_csv(folder / "patients.csv", index=False)
    call("key", "curator.key")
    call("ledger", "found", "sqlite:///clinic.db", "--ceiling", 1)
    call(
        "release", "patients.csv", "--target", "ill", "--id", "key", "--estimator",
        "LogisticRegression", "--subsets", 16, "--nats", "1/4", "--output", "model.pac",
        "--key", "curator.key", "--ledger", "sqlite:///clinic.db",
    )  # fmt: skip
    assert load_bundle(folder / "model.pac", key=folder / "curator.key.pub").model() is not None


def test_what_cannot_be_published_is_refused_before_it_is_charged(call, folder, monkeypatch):
    def refuse(*_, **__):
        raise BundleError("cannot be written")

    call("key", "curator.key")
    call("ledger", "found", "sqlite:///clinic.db", "--ceiling", 1)
    monkeypatch.setattr("pacsklearn_publish.publishing.bundle_content", refuse)
    call(
        "release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier", "--subsets",
        16, "--nats", "1/4", "--output", "model.pac", "--key", "curator.key", "--ledger",
        "sqlite:///clinic.db", code=2,
    )  # fmt: skip
    assert json.loads(call("ledger", "show", "sqlite:///clinic.db", "--json").stdout)["spent"] == 0


def test_a_full_disk_is_named_and_nothing_is_left(published, call, folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = set(folder.iterdir())
    words = ("publish", "m.joblib", "--output", "full.pac", "--key", "curator.key")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "nothing was written there: full.pac" in call(*words, code=2).output
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", lambda descriptor, _: full(os.close(descriptor)))
        assert "nothing was written there: full.key" in call("key", "full.key", code=2).output
    assert set(folder.iterdir()) == before


def test_students_that_no_bundle_holds_are_refused_before_they_are_charged(published, call, folder):
    words = (
        "distill", "rows.csv", "public.csv", "--target", "kind", "--estimator",
        "sklearn.naive_bayes.GaussianNB", "--subsets", 16, "--key", "curator.key", "--ledger",
        "clinic.db", "--output", "s.pac", "--student",
    )  # fmt: skip
    spent = open_ledger("sqlite:///clinic.db", ceiling=None).spent
    refused = call(*words, "sklearn.tree.DecisionTreeClassifier", code=2)
    assert "a bundle holds no trees" in refused.output
    assert open_ledger("sqlite:///clinic.db", ceiling=None).spent == spent
    call(*words, "RidgeClassifier")
    assert load_bundle(folder / "s.pac", key=folder / "curator.key.pub").model().n_features_in_ == 4
