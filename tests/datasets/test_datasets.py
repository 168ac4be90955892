from __future__ import annotations

import inspect
import sys

import pytest

import pacsklearn.datasets
from pacsklearn.datasets.adult import ADULT
from pacsklearn.datasets.cleveland import CLEVELAND
from pacsklearn.datasets.rice import RICE
from pacsklearn.datasets.student import STUDENT


@pytest.mark.parametrize("name", pacsklearn.datasets.__all__)
def test_loaders_share_one_signature(name):
    parameters = inspect.signature(getattr(pacsklearn.datasets, name)).parameters
    assert list(parameters) == ["return_X_y", "as_frame", "data_home", "download"]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


@pytest.mark.parametrize("dataset", [ADULT, CLEVELAND, RICE, STUDENT], ids=lambda d: d.name)
def test_every_feature_is_public_knowledge(dataset):
    assert dataset.target not in dataset.features
    assert dataset.archive_name.endswith(".zip")
    for categories in dataset.features.values():
        assert categories is None or len(set(categories)) == len(categories) > 1


def test_all_numeric_data_needs_no_pandas(monkeypatch, shared_data):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert pacsklearn.datasets.load_rice(data_home=shared_data).data.shape == (3810, 7)
    with pytest.raises(ImportError, match="as_frame"):
        pacsklearn.datasets.load_rice(as_frame=True, data_home=shared_data)
