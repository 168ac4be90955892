"""A folder with a table, and a way to call commands."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from pacsklearn.cli.app import app


@pytest.fixture(scope="session")
def table():
    frame = load_iris(as_frame=True).frame
    frame.columns = ["a", "b", "c", "d", "kind"]
    return frame


@pytest.fixture(autouse=True)
def _few_draws(few_draws):
    """No test here is about how good the best attack on a sliced release is."""


@pytest.fixture
def folder(tmp_path, table):
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.drop(columns="kind").to_csv(tmp_path / "public.csv", index=False)
    return tmp_path


@pytest.fixture
def call(folder, monkeypatch):
    """Result of a command in the folder."""
    monkeypatch.chdir(folder)
    runner = CliRunner()

    def run(*words, code=0):
        result = runner.invoke(app, [str(word) for word in words])
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture(scope="session")
def written():
    """Files of the small release, once the first test has made it."""
    return {}


@pytest.fixture
def released(call, folder, written):
    """Statement of a small release."""
    if not written:
        before = set(folder.iterdir())
        call(
            "release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier",
            "--subsets", 16, "--nats", "1/16", "--output", "model.joblib", "--json",
        )  # fmt: skip
        written |= {made.name: made.read_bytes() for made in set(folder.iterdir()) - before}
    for name, content in written.items():
        (folder / name).write_bytes(content)
    return json.loads((folder / "model.statement.json").read_text())


@pytest.fixture
def full_disk():
    """A block in which no file of this process takes a byte."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def full():
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return full
