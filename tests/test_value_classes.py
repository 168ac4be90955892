"""Values in the rooms that carry the proofs: nobody changes a law or a figure once it is made."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass

import pytest

# Accounts add up charges; a report is filled in while candidates are fitted.
CHANGING = {"FitReport", "_Account"}
ARRAYS = ("Floats", "Integers", "NDArray", "ArrayLike")


def value_classes(room: str) -> list[type]:
    package = importlib.import_module(f"pacsklearn.{room}")
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and is_dataclass(value) and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize(
    "room", ["core", "information", "noise", "pufferfish", "release", "responses"]
)
def test_values_are_frozen_and_those_with_arrays_do_not_compare_them(room: str) -> None:
    for value in value_classes(room):
        parameters = value.__dataclass_params__
        assert parameters.frozen or value.__name__ in CHANGING, value
        # Two arrays are equal at every place or at none: == would raise, and hash as well.
        holds_arrays = any(name in str(field.type) for field in fields(value) for name in ARRAYS)
        assert not (holds_arrays and parameters.eq), value
