"""Defaults are those that the docstrings state: what most users get, and few tests."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pacsklearn

STATED = re.compile(r"^ *(\w+(?:, \w+)*) : .*\bdefault=(.+)$", re.MULTILINE)
# What cannot be imported where an optional package is missing is tested where it is there.
MODULES = [
    found.name
    for found in pkgutil.walk_packages(pacsklearn.__path__, "pacsklearn.")
    if not found.name.endswith("__main__")
]


def own(module: ModuleType) -> Iterator[Any]:
    """Functions and classes of a module, and methods of these classes."""
    for each in vars(module).values():
        if getattr(each, "__module__", None) == module.__name__ and callable(each):
            yield each
            if inspect.isclass(each):
                members = (getattr(member, "__func__", member) for member in vars(each).values())
                yield from filter(inspect.isfunction, members)


def stated(module: ModuleType) -> Iterator[tuple[str, Any, Any]]:
    """Name, stated and real default of each parameter whose docstring states one."""
    for each in own(module):
        for names, text in STATED.findall(each.__doc__ or ""):
            parameters = inspect.signature(each).parameters
            words = names.split(", ")
            values = eval(f"({text},)", vars(module).copy())  # noqa: S307 - our own docstrings
            for word, value in zip(words, values * (len(words) // len(values)), strict=True):
                yield f"{each.__qualname__}({word})", value, parameters[word].default


def test_defaults_are_those_that_are_stated() -> None:
    n_stated = 0
    for name in MODULES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        for parameter, value, real in stated(module):
            n_stated += 1
            is_same = value is real or (
                value == real and isinstance(value, bool) == isinstance(real, bool)
            )
            assert is_same, f"{name}, {parameter}: {value!r} is stated, {real!r} is given"
    assert n_stated > 300
