"""A disk that fails loses neither budget nor model."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris

from pacsklearn.cli import publication as module
from pacsklearn.cli.options import Files
from pacsklearn.cli.publication import publication
from pacsklearn.exceptions import BundleError
from pacsklearn.universe.open_ledger import open_ledger


@pytest.fixture(scope="session")
def irises(tmp_path_factory):
    X, y = load_iris(return_X_y=True)
    path = tmp_path_factory.mktemp("table") / "iris.csv"
    rows = np.column_stack([X, y])
    np.savetxt(path, rows, delimiter=",", header="a,b,c,d,y", comments="")
    return path


def test_both_files_appear_together(tmp_path):
    with publication(Files(tmp_path / "m.joblib")) as place:
        place.write({"a": 1}, {"said": True})
        assert not list(tmp_path.glob("m*"))
    assert joblib.load(tmp_path / "m.joblib") == {"a": 1}
    assert json.loads((tmp_path / "m.statement.json").read_text()) == {"said": True}


def test_a_disk_that_fails_after_the_charge_keeps_the_model_elsewhere(tmp_path, monkeypatch):
    real, calls = joblib.dump, []

    def full_once(value, file):
        calls.append(file)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(value, file)

    monkeypatch.setattr(joblib, "dump", full_once)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path / "spare"))
    (tmp_path / "spare").mkdir()
    with (
        pytest.raises(OSError, match="charged") as caught,
        publication(Files(tmp_path / "m.joblib")) as place,
    ):
        place.write([1, 2], {"said": True})
    kept = Path(caught.value.filename)
    assert joblib.load(kept) == [1, 2]
    assert json.loads(Path(f"{kept}.statement.json").read_text()) == {"said": True}
    assert not list(tmp_path.glob("m*"))


def test_where_no_disk_has_room_it_says_that_the_model_is_lost(tmp_path, monkeypatch):
    """It named the module that failed, and not that the budget was spent."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(joblib, "dump", full)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    with (
        pytest.raises(OSError, match="The release is charged, and its model is lost"),
        publication(Files(tmp_path / "m.joblib")) as place,
    ):
        place.write([1, 2], {"said": True})


def test_two_processes_never_replace_the_model_of_one_another(tmp_path, monkeypatch):
    """Both had found the name free; the second took the place of a model that was charged."""
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path / "spare"))
    (tmp_path / "spare").mkdir()
    files = Files(tmp_path / "m.joblib")

    def both():
        with publication(files) as second:
            with publication(files) as first:
                first.write("first", {})
            second.write("second", {})

    with pytest.raises(FileExistsError, match="charged") as caught:
        both()
    assert joblib.load(files.output) == "first"
    assert joblib.load(caught.value.filename) == "second"


def test_a_full_disk_charges_nothing(tmp_path, irises, monkeypatch):
    from typer.testing import CliRunner

    from pacsklearn.cli.app import app
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    account = SharedLedger.found(ledger, 1.0)
    arguments = [
        *("release", str(irises), "--target", "y", "--nats", "1/16", "--subsets", "16"),
        *("--estimator", "sklearn.linear_model.RidgeClassifier", "--ledger", ledger),
        *("--output", str(tmp_path / "model.joblib")),
    ]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full, raising=False)
        failed = CliRunner().invoke(app, arguments)
    assert failed.exit_code == 2
    assert "No room of" in re.sub(r"\s+", " ", failed.output)
    assert account.spent == 0
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert account.spent == pytest.approx(1 / 16)


def test_a_model_that_cannot_be_written_is_kept(tmp_path, monkeypatch):
    """The release was charged before: whatever fails then, the model is not lost."""

    def broken(*_):
        return lambda _: (_ for _ in ()).throw(BundleError("No bundle."))

    monkeypatch.setattr(module, "writer", lambda _: broken)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path / "spare"))
    (tmp_path / "spare").mkdir()
    with (
        pytest.raises(BundleError, match="charged") as caught,
        publication(Files(tmp_path / "m.pac", key=tmp_path / "curator.key")) as place,
    ):
        place.write(["a model"], {"said": True})
    kept = Path(str(caught.value).rpartition(": ")[2])
    assert joblib.load(kept) == ["a model"]
    assert not list(tmp_path.glob("m*"))


def test_without_the_distribution_nothing_is_charged(tmp_path, irises, call, monkeypatch):
    monkeypatch.setattr("pacsklearn.cli.extensions.entry_points", lambda **_: ())
    ledger = f"sqlite:///{tmp_path / 'l.db'}"
    call("ledger", "found", ledger, "--ceiling", "1")
    words = ["release", irises, "--target", "y", "--estimator", "Ridge", "--ledger", ledger,
             "--output", tmp_path / "m.pac", "--key", tmp_path / "curator.key"]  # fmt: skip
    assert "./plugins/pacsklearn-publish" in call(*words, code=2).output
    assert open_ledger(ledger, ceiling=None).spent == 0
    assert not list(tmp_path.glob("m.*"))
