"""Internal names say what a thing is in the field, not that it was told, said, asked or found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.sources import package

VAGUE = {"told", "said", "asked", "found"}
# What Python and skops call their errors, the verb "to found a ledger", and fields that users read.
STANDARD = {
    "FileNotFoundError": "Python's",
    "ModuleNotFoundError": "Python's",
    "PackageNotFoundError": "Python's",
    "UntrustedTypesFoundException": "that of skops",
    "asked": "BudgetExhaustedError.asked",
    "found": "SharedLedger.found, `pacsklearn ledger found`",
    "n_found": "OperatingPoint.n_found",
}
# Where the two short ones may stand; anywhere else they would be somebody's variable.
PLACES = {
    "asked": {"exceptions.py", "kernel/answers/responder.py", "testing/ledger_check.py"},
    "found": {
        "kernel/ledger/shared_ledger.py",
        "cli/charged_ledger.py",
        "cli/ledger_command.py",
        "testing/ledger_scheme_check.py",
    },
}


@cache
def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every name that a module defines, takes, passes or reads."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield getattr(node, "lineno", 0), name


def vague_names(file: str, tree: ast.AST) -> list[str]:
    return [
        f"{file}:{line}: {name}"
        for line, name in identifiers(tree)
        if words(name) & VAGUE and (name not in STANDARD or file not in PLACES.get(name, {file}))
    ]


def test_names_say_what_a_thing_is() -> None:
    vague = [name for file, tree in package().items() for name in vague_names(file, tree)]
    assert not vague, f"names that say told, said, asked or found instead of what it is: {vague}"


def documented(docstring: str) -> list[str]:
    """Names in the section Parameters of a docstring without indentation."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}|\Z)", docstring + "\n", re.DOTALL | re.MULTILINE
    )
    heads = re.findall(r"^([\w*, ]+?)(?: : .*)?$", section[1] if section else "", re.MULTILINE)
    return [name.strip("* ") for head in heads for name in head.split(",") if head[:1] != " "]


def untaken(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of each documented parameter that a function or a class does not take."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        taking: ast.AST | None = node
        if isinstance(node, ast.ClassDef):  # a dataclass has none, and bases may have its fields
            own = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            taking = next((each for each in own if each.name == "__init__"), None)
        if not isinstance(taking, ast.FunctionDef) or taking.args.vararg or taking.args.kwarg:
            continue
        taken = {each.arg for each in ast.walk(taking.args) if isinstance(each, ast.arg)}
        for name in documented(ast.get_docstring(node) or ""):
            if name not in taken:
                yield node.lineno, name


def test_documented_parameters_are_taken() -> None:
    wrong = [
        f"{file}:{line}: {name}" for file, tree in package().items() for line, name in untaken(tree)
    ]
    assert not wrong, f"parameters that are documented and not taken: {wrong}"
    text = 'def f(a):\n    """One.\n\n    Parameters\n    ----------\n    a, b : int\n    """\n'
    assert list(untaken(ast.parse(text))) == [(1, "b")]


def test_every_exception_is_still_one() -> None:
    used = {
        (file, name)
        for file, tree in package().items()
        for _, name in identifiers(tree)
        if name in STANDARD
    }
    assert {name for _, name in used} == set(STANDARD)
    assert {(file, name) for name, files in PLACES.items() for file in files} <= used


def test_a_vague_name_is_reported_wherever_it_stands() -> None:
    source = "def ask(told, *, was_found=1):\n    said = told.n_asked\n    f(foundKey=said)\n"
    assert {line.rpartition(" ")[2] for line in vague_names("core/x.py", ast.parse(source))} == {
        "told", "was_found", "said", "n_asked", "foundKey",
    }  # fmt: skip
    assert (
        vague_names(
            "core/x.py", ast.parse("def founding(profound):\n    raise FileNotFoundError\n")
        )
        == []
    )
    assert vague_names("core/x.py", ast.parse("found = 1\n")) == ["core/x.py:1: found"]
