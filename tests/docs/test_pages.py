"""Every python block of the documentation runs, page by page."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from pacsklearn.plugin import registry
from pacsklearn.plugin.records import KINDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guarantees").glob("*.md")),
]
BLOCK = re.compile(
    r"^(?P<indent>[ ]*)```python[ ]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.MULTILINE | re.DOTALL
)


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Line number and code of each block."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text[: match.start("code")].count("\n"), textwrap.dedent(match["code"])


@pytest.fixture
def namespace(request, monkeypatch, tmp_path):
    """Module the blocks of a page run in, so that its classes can be pickled."""
    module = types.ModuleType(f"page_{request.node.callspec.id}".replace("/", "_"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    known = {kind: registry().records(kind) for kind in KINDS}
    yield vars(module)
    for kind in KINDS:
        for record in set(registry().records(kind)) - set(known[kind]):
            registry().unregister(record)


@pytest.mark.parametrize(
    "page", PAGES, ids=[page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES]
)
def test_a_page_runs(page, namespace, monkeypatch, request):
    if any("pacsklearn.datasets" in code for _, code in blocks(page)):
        monkeypatch.setenv("PACSKLEARN_DATA", str(request.getfixturevalue("shared_data")))
    for line, code in blocks(page):
        # Blank lines put the page's own line numbers into a traceback.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)  # noqa: S102 - our pages


def test_pages_have_blocks():
    assert sum(1 for _ in blocks(ROOT / "docs" / "extending.md")) >= 6


def test_the_canonicalizer_of_the_tutorial_has_ten_lines():
    (code,) = (code for _, code in blocks(ROOT / "docs" / "extending.md") if "= register(" in code)
    lines = code[code.index("class ") : code.index("record = ")].splitlines()
    assert len([line for line in lines if line.strip()]) <= 10
