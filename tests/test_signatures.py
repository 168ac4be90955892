"""Functions of more than 8 parameters are a public interface, a command or a compiled kernel."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.public import PUBLIC
from tests.sources import ROOT, package

MOST = 8


def long_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for file, tree in package().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*node.args.posonlyargs, *node.args.args]
                own = bool(given) and given[0].arg in ("self", "cls")
                if len(given) + len(node.args.kwonlyargs) - own > MOST:
                    yield f"pacsklearn/{file}", node


def documented() -> Iterator[Any]:
    """What users call: public names, and those of the reference."""
    yield from PUBLIC.values()
    reference = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    for name in re.findall(r"^   (pacsklearn[.\w]+)$", reference, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        yield getattr(import_module(module), attribute)


def public_code() -> set[tuple[str, str]]:
    """File and qualified name of every function that users call."""
    found = set()
    for one in documented():
        members = [one]
        if inspect.isclass(one):
            members = [inspect.getattr_static(one, name) for name in dir(one) if _is_public(name)]
        for member in members:
            function = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(function):
                found.add((function.__code__.co_filename, function.__name__))
    return found


def _is_public(name: str) -> bool:
    return name == "__init__" or not name.startswith("_")


def _decorators(node: ast.FunctionDef) -> str:
    return " ".join(ast.unparse(each) for each in node.decorator_list)


def test_long_signatures_are_for_users_and_kernels() -> None:
    public = {(Path(file).relative_to(ROOT).as_posix(), name) for file, name in public_code()
              if Path(file).is_relative_to(ROOT)}  # fmt: skip
    others = [
        f"{file}: {node.name}"
        for file, node in long_functions()
        if (file, node.name) not in public
        and not any(mark in _decorators(node) for mark in ("compiled(", ".in_numpy"))
        and not file.endswith("_command.py")
    ]
    assert not others, f"more than {MOST} parameters, of which some belong together: {others}"
