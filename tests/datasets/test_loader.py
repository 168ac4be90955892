from __future__ import annotations

import inspect
import pickle
import re

import pytest

import pacsklearn.datasets
from pacsklearn.datasets.adult import ADULT
from pacsklearn.datasets.cleveland import CLEVELAND
from pacsklearn.datasets.rice import RICE
from pacsklearn.datasets.student import STUDENT


@pytest.mark.parametrize("dataset", [ADULT, CLEVELAND, RICE, STUDENT], ids=lambda d: d.name)
def test_a_loader_is_documented_by_its_facts(dataset):
    load = getattr(pacsklearn.datasets, f"load_{dataset.name}")
    text = inspect.getdoc(load)
    headings = re.findall(r"^(\w+)\n-+$", text, flags=re.MULTILINE)
    assert headings == ["Parameters", "Returns", "Raises", "Examples"]
    assert f"shape ({dataset.n_rows}, {len(dataset.columns)}) or None" in text
    assert all(f"``{name}``" in text for name in dataset.file_names)
    assert ("ImportError" in text) == (not dataset.all_numeric)
    default = inspect.signature(load).parameters["as_frame"].default
    assert default is not dataset.all_numeric
    assert f"as_frame : bool, default={default}" in text


@pytest.mark.parametrize("name", pacsklearn.datasets.__all__)
def test_a_loader_has_its_own_name_and_can_be_pickled(name):
    load = getattr(pacsklearn.datasets, name)
    assert (load.__name__, load.__module__) == (name, f"pacsklearn.datasets.{name[5:]}")
    assert pickle.loads(pickle.dumps(load)) is load
