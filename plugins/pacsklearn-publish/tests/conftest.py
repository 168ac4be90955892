"""A released model, a key, and a bundle of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pacsklearn_publish import make_key, publish
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.cli.app import app
from tests.conftest import _nothing_released, _same_subsets

__all__ = ["_nothing_released", "_same_subsets"]


@pytest.fixture(scope="session")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def private(iris: tuple[Any, Any]) -> PACPrivate:
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    return PACPrivate(model, budget=Nats(1.0), secret=Subsets(16)).fit(*iris)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_key(tmp_path_factory.mktemp("keys") / "curator.key")


@pytest.fixture(scope="session")
def bundle(
    private: PACPrivate, keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return publish(private, tmp_path_factory.mktemp("bundle") / "iris.pac", key=keys[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder with a private table and public rows."""
    table = load_iris(as_frame=True).frame
    table.columns = ["a", "b", "c", "d", "kind"]
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.drop(columns="kind").to_csv(tmp_path / "public.csv", index=False)
    return tmp_path


@pytest.fixture
def call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Result of a command in the folder."""
    monkeypatch.chdir(folder)
    runner = CliRunner()

    def run(*words: Any, code: int = 0) -> Any:
        result = runner.invoke(app, [str(word) for word in words])
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return run
