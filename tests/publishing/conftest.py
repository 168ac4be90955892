"""A released model, a key, and a bundle of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate

pytest.importorskip("skops", reason="skops is not installed")
pytest.importorskip("cryptography", reason="cryptography is not installed")


@pytest.fixture(scope="session")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def private(iris: tuple[Any, Any]) -> PACPrivate:
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    return PACPrivate(model, budget=1.0, n_subsets=16).fit(*iris)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from pacsklearn.publishing.signature import make_key

    return make_key(tmp_path_factory.mktemp("keys") / "curator.key")


@pytest.fixture(scope="session")
def bundle(
    private: PACPrivate, keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    from pacsklearn import publish

    return publish(private, tmp_path_factory.mktemp("bundle") / "iris.pac", key=keys[0])
