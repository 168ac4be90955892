"""What ``pacsklearn`` offers is what it lists, and all of it is documented."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest

import pacsklearn
from tests.public import MODULES, PUBLIC

# Underscored modules and command lines are nobody's interface.
ALL_MODULES = [
    module.name
    for module in pkgutil.walk_packages(pacsklearn.__path__, "pacsklearn.")
    if not any(part.startswith("_") for part in module.name.split("."))
]


@pytest.mark.parametrize("module", MODULES)
def test_all_is_what_the_stub_lists(module: str) -> None:
    home = import_module(module)
    stub = Path(f"{home.__file__}i").read_text(encoding="utf-8")
    told = {
        name.asname: getattr(import_module(str(node.module)), name.name)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert told == {name: getattr(home, name) for name in home.__all__}
    assert home.__all__ == sorted(home.__all__)
    assert set(home.__all__) <= set(dir(home))
    # A module that something else imports would be given out in the place of what has its name.
    inside = {module.name for module in pkgutil.iter_modules(getattr(home, "__path__", ()))}
    assert not inside & set(home.__all__)


def test_few_names_are_at_the_top() -> None:
    assert len(pacsklearn.__all__) <= 20


def test_rooms_and_unknown_names() -> None:
    assert pacsklearn.exceptions.BudgetError is import_module("pacsklearn.exceptions").BudgetError
    assert {"PACPrivate", "testing"} <= set(dir(pacsklearn))
    with pytest.raises(AttributeError, match="PacPrivate"):
        _ = pacsklearn.PacPrivate


def test_the_version_is_the_distributions() -> None:
    try:
        installed = metadata.version("pacsklearn")
    except metadata.PackageNotFoundError:
        pytest.skip("pacsklearn is run from its folder, not installed")
    assert pacsklearn.__version__ == installed


def members(kind: type) -> dict[str, Any]:
    """Public methods and properties that a class defines itself."""
    return {
        name: value
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod))
    }


def test_every_public_name_is_documented() -> None:
    for name, value in PUBLIC.items():
        assert_documented(name, value)


def assert_documented(name: str, value: Any) -> None:
    text = inspect.getdoc(value) or ""
    assert text, name
    assert text.splitlines()[0].endswith("."), f"{name}: the first line is a sentence"
    if not callable(value) or name == "hookimpl":
        return
    takes = [
        p
        for p in inspect.signature(value).parameters.values()
        if p.name.strip("_") not in ("", "self")
    ]
    if takes and not inspect.isabstract(value):
        assert "Parameters\n----------" in text or issubclass(value, tuple), name
        undocumented = [p.name for p in takes if p.name.strip("_") not in text]
        assert not undocumented, name
    if inspect.isclass(value) and not inspect.isabstract(value):
        missing = [m for m, member in members(value).items() if not inspect.getdoc(member)]
        assert not missing, name


def test_every_module_says_what_it_is_and_offers_what_it_lists() -> None:
    for module in ALL_MODULES:
        try:
            loaded = import_module(module)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("pacsklearn"):
                raise
            continue  # a library that an extra brings
        assert inspect.getdoc(loaded), module
        missing = [name for name in getattr(loaded, "__all__", []) if not hasattr(loaded, name)]
        assert not missing, module


def test_every_error_is_documented_and_in_the_tree() -> None:
    tree = pacsklearn.exceptions.__doc__
    for name in pacsklearn.exceptions.__all__:
        kind = getattr(pacsklearn.exceptions, name)
        assert name in tree
        assert inspect.getdoc(kind)
        assert issubclass(kind, Warning | pacsklearn.exceptions.PacsklearnError)
