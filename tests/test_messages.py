"""The one place for the texts of messages; other tests name a class and a word.

``messages.txt`` holds them: a message that is reworded is reworded there too, and nowhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import ROOT, sources

TEXT = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith(("#", "["))]
# What stands for private rows, for what was learnt from them.
WITHHELD = {"X", "y", "rows", "targets", "labels", "vector", "vectors", "outputs"}
TELLS_NO_VALUE = {"shape", "dtype", "size", "ndim", "type", "len"}


@cache
def said() -> str:
    """Every text in them, with ``{}`` for what is filled in."""
    texts = []
    for tree in sources().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
                )
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


def test_each_message_is_said() -> None:
    gone = [line for line in LINES if line not in said()]
    assert not gone, "reword them in tests/messages.txt, or take them out"


def test_each_is_held_once() -> None:
    assert len(LINES) == len(set(LINES)) > 400


def filled_in(tree: ast.Module) -> Iterator[ast.FormattedValue]:
    """What errors and warnings fill in."""
    for node in ast.walk(tree):
        warns = isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("warn", "warn_user")
        )
        if isinstance(node, ast.Raise) or warns:
            yield from (part for part in ast.walk(node) if isinstance(part, ast.FormattedValue))


def told(value: ast.AST) -> Iterator[str]:
    """Names whose values a text would hold, and not only their shape or type."""
    if isinstance(value, ast.Attribute) and value.attr in TELLS_NO_VALUE:
        return
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in TELLS_NO_VALUE:
        return
    if isinstance(value, ast.Name):
        yield value.id
    for part in ast.iter_child_nodes(value):
        yield from told(part)


def test_no_message_holds_rows_or_what_was_learnt_from_them() -> None:
    for file, tree in sources().items():
        for value in filled_in(tree):
            leaked = WITHHELD & set(told(value.value))
            assert not leaked, f"{file.relative_to(ROOT)}:{value.lineno} fills in {leaked}"


@pytest.mark.parametrize("text", ["{X}", "{len(X)} {y[0]!r}", "{rows.tolist()}", "{max(vector)}"])
def test_a_message_that_does_is_found(text: str) -> None:
    tree = ast.parse(f"raise ValueError(f'rows are withheld: {text}')")
    assert any(WITHHELD & set(told(value.value)) for value in filled_in(tree))
