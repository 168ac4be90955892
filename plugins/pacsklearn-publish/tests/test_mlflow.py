from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of MLflow while it is imported
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    pytest.importorskip("mlflow.pyfunc", reason="mlflow cannot serve models here")
pytestmark = pytest.mark.filterwarnings("default")

from pacsklearn_publish import publish  # noqa: E402
from pacsklearn_publish.mlflow import KEY, load_model, log_bundle  # noqa: E402
from pacsklearn_publish.signature import make_key  # noqa: E402

from pacsklearn import Nats, PACPrivate, Subsets  # noqa: E402
from pacsklearn.exceptions import BundleError  # noqa: E402

X, y = load_iris(return_X_y=True)


@pytest.fixture
def keys(tmp_path):
    return make_key(tmp_path / "curator.key")


@pytest.fixture
def private():
    return PACPrivate(RidgeClassifier(), budget=Nats(1.0), secret=Subsets(16)).fit(X, y)


@pytest.fixture
def logged(tmp_path, keys, private, monkeypatch):
    # The small MLflow, which the extra brings, keeps runs in files alone, and warns of it.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.create_experiment("bundles", artifact_location=(tmp_path / "artefacts").as_uri())
    mlflow.set_experiment("bundles")
    path = publish(private, tmp_path / "iris.pac", key=keys[0], onnx="none")
    with mlflow.start_run() as run:
        info = log_bundle(path, key=keys[1], name="iris")
    return info, run


def test_a_model_comes_back_with_its_guarantee(logged, keys, private):
    model = load_model(logged[0].model_uri, key=keys[1])
    assert np.array_equal(model.predict(X), private.predict(X))
    assert model.pacsklearn_guarantee_ == private.guarantee_.to_json()


def test_mlflow_serves_it_as_any_other(logged, keys, private, monkeypatch):
    monkeypatch.setenv(KEY, str(keys[1]))
    served = mlflow.pyfunc.load_model(logged[0].model_uri)
    assert np.array_equal(served.predict(X), private.predict(X))


def test_the_promise_is_on_the_model_and_beside_it(logged, private):
    info, run = logged
    tags = mlflow.get_logged_model(info.model_id).tags
    assert tags["pacsklearn.promise"] == private.guarantee_.promise
    assert tags["pacsklearn.status"] == "proved"
    text = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/iris/guarantee.json")
    assert '"budget":1.0' in text


def test_another_key_or_another_file_is_refused(logged, tmp_path, keys, private, monkeypatch):
    other = make_key(tmp_path / "other.key")
    with pytest.raises(BundleError, match="Another"):
        load_model(logged[0].model_uri, key=other[1])
    path = publish(private, tmp_path / "unsigned.pac", onnx="none")
    with mlflow.start_run(), pytest.raises(BundleError, match="signed"):
        log_bundle(path, key=keys[1])
    monkeypatch.setenv(KEY, str(other[1]))
    with pytest.raises(BundleError, match="Another"):
        mlflow.pyfunc.load_model(logged[0].model_uri)


@pytest.mark.parametrize("switch", [mlflow.autolog, mlflow.sklearn.autolog])
def test_no_candidate_is_logged(logged, switch):
    before = len(mlflow.search_runs())
    switch()
    try:
        with pytest.raises(ValueError, match=r"Call mlflow\.sklearn\.autolog\(disable=True\)"):
            PACPrivate(RidgeClassifier(), secret=Subsets(8)).fit(X, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    PACPrivate(RidgeClassifier(), secret=Subsets(8)).fit(X, y)
    assert len(mlflow.search_runs()) == before
