"""The shortest name that imports a thing, and its own module where there is none."""

from __future__ import annotations

import builtins
import collections
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pacsklearn import PACPrivate
from pacsklearn._public_path import public_path
from pacsklearn.tabular import Schema


@pytest.mark.parametrize(
    ("thing", "path"),
    [
        (LogisticRegression, ("sklearn.linear_model", "LogisticRegression")),
        (PACPrivate, ("pacsklearn", "PACPrivate")),
        (Schema, ("pacsklearn.tabular", "Schema")),
        (np.mean, ("numpy", "mean")),
        (json.JSONDecoder, ("json", "JSONDecoder")),
        (collections.OrderedDict, ("collections", "OrderedDict")),
        (builtins.dict, ("builtins", "dict")),
        (dict.fromkeys, ("", "dict.fromkeys")),
    ],
)
def test_the_shortest_name(thing, path):
    assert public_path(thing) == path


def test_what_is_imported_from_nowhere_keeps_its_module():
    class Local:
        pass

    assert public_path(Local) == (__name__, Local.__qualname__)


def test_another_thing_of_the_same_name_is_not_meant():
    made = type("Schema", (), {"__module__": "pacsklearn.elsewhere"})
    assert public_path(made) == ("pacsklearn.elsewhere", "Schema")
