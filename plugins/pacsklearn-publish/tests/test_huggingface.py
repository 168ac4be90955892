from __future__ import annotations

import json
from unittest.mock import create_autospec

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

hub = pytest.importorskip("huggingface_hub", reason="huggingface-hub is not installed")

from pacsklearn_publish import load_bundle, publish  # noqa: E402
from pacsklearn_publish.huggingface import push, write_folder  # noqa: E402
from pacsklearn_publish.signature import make_key  # noqa: E402

from pacsklearn import Nats, PACPrivate, Subsets  # noqa: E402
from pacsklearn.estimators.model_file import from_file  # noqa: E402
from pacsklearn.exceptions import BundleError  # noqa: E402

X, y = load_iris(return_X_y=True)


@pytest.fixture
def keys(tmp_path):
    return make_key(tmp_path / "curator.key")


@pytest.fixture
def private():
    return PACPrivate(RidgeClassifier(), budget=Nats(1.0), secret=Subsets(16)).fit(X, y)


@pytest.fixture
def folder(tmp_path, keys, private):
    about = {"title": "Irises", "license": "cc-by-4.0"}
    path = publish(private, tmp_path / "iris.pac", key=keys[0], about=about)
    return write_folder(path, tmp_path / "repository", key=keys[1])


def test_the_layout_is_a_model_repository(folder, keys, private):
    names = {path.name for path in folder.iterdir()}
    assert names == {
        ".gitattributes", "README.md", "card.json", "config.json", "guarantee.json", "model.onnx",
        "model.pac", "model.skops", "software.cdx.json",
    }  # fmt: skip
    assert load_bundle(folder / "model.pac", key=keys[1]).guarantee == private.guarantee_
    loaded = from_file((folder / "model.skops").read_bytes())
    assert (loaded.predict(X) == private.predict(X)).all()
    config = json.loads((folder / "config.json").read_text())
    assert config["sklearn"]["task"] == "tabular-classification"
    assert config["sklearn"]["columns"] == ["x0", "x1", "x2", "x3"]
    assert config["pacsklearn"]["promise"] == private.guarantee_.promise


def test_the_hub_reads_the_card(folder):
    card = hub.ModelCard.load(folder / "README.md")
    card_data = card.data.to_dict()
    assert card_data["license"] == "cc-by-4.0"
    assert card_data["library_name"] == "sklearn"
    assert {"skops", "privacy"} <= set(card_data["tags"])
    assert "can tell whether any one row was used" in card.text


def test_only_the_folder_is_pushed(folder):
    api = create_autospec(hub.HfApi, instance=True)
    api.upload_folder.return_value.commit_url = "https://hub/commit"
    assert push(folder, "hospital/irises", api=api) == "https://hub/commit"
    api.create_repo.assert_called_once_with("hospital/irises", private=False, exist_ok=True)
    (call,) = api.upload_folder.call_args_list
    assert call.kwargs["folder_path"] == str(folder)
    for place, name in ((folder.parent, "hospital/irises"), (folder, "irises")):
        with pytest.raises(ValueError, match=r"must be|holds no"):
            push(place, name, api=api)


@pytest.mark.parametrize("name", ["clinic.csv", "more/curator.key", "model.skops", "model.pac"])
def test_nothing_that_came_later_is_pushed(folder, name):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"private") + b"x")
    api = create_autospec(hub.HfApi, instance=True)
    with pytest.raises((ValueError, BundleError), match=name):
        push(folder, "hospital/irises", api=api)
    assert not api.method_calls


def test_nothing_unsigned_or_mixed_is_written(tmp_path, keys, private, folder):
    path = publish(private, tmp_path / "unsigned.pac", onnx="none")
    with pytest.raises(BundleError, match="signed"):
        write_folder(path, tmp_path / "other", key=keys[1])
    assert not (tmp_path / "other").exists()
    with pytest.raises(FileExistsError, match="empty"):
        write_folder(tmp_path / "iris.pac", folder, key=keys[1])
