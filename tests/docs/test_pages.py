"""Every python block of the documentation runs, page by page."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from pacsklearn.plugins import registry
from tests.docs.blocks import agree, blocks, run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guarantees").glob("*.md")),
]
# Figures of attacks, plugins and descent change with every run, or fill a screen.
SHOWN_IN_PART = {"exporting", "extending"}


@pytest.fixture
def namespace(request, monkeypatch, tmp_path):
    """Module the blocks of a page run in, so that its classes can be pickled."""
    module = types.ModuleType(f"page_{request.node.callspec.id}".replace("/", "_"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    known = {kind: registry().registrations(kind) for kind in registry().kinds()}
    yield vars(module)
    for kind, before in known.items():
        for added in set(registry().registrations(kind)) - set(before):
            registry().unregister(added.made)


# Nearly all of the time of all pages is theirs.
LONG = ("additive", "attacks", "audits", "budgets", "calibrations", "choosing", "choosing_models")
LONG += ("clustering", "displays", "extending", "functions", "imbalance", "index", "large_tables")
LONG += ("pipelines", "regression", "responses", "schema", "srpp", "srpp_sgd", "student")
LONG += ("threat_model",)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=page.relative_to(ROOT).with_suffix("").as_posix(),
            marks=pytest.mark.soak if page.stem in LONG else (),
        )
        for page in PAGES
    ],
)
def test_a_page_runs(page, namespace, monkeypatch, request):
    if any("pacsklearn.datasets" in code for _, code, _ in blocks(page)):
        monkeypatch.setenv("PACSKLEARN_DATA", str(request.getfixturevalue("shared_data")))
    run(page, namespace)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_block_that_prints_shows_what(page):
    if page.stem in SHOWN_IN_PART:
        return
    for line, code, shown in blocks(page):
        assert shown or "print(" not in code, f"{page.name}:{line} shows no output"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("accuracy 0.93", "accuracy 0.65\n", True),
        ("accuracy 0.93", "accuracy 0.33", False),
        ("128 subsets", "127 subsets", False),
        ("a ... z", "a b c d z", True),
        ("a ... z", "a b c d y", False),
        ("one\ntwo", "one  two", True),
        ("one", "one two", False),
    ],
)
def test_what_counts_as_the_same_output(shown, printed, same):
    assert agree(shown, printed) is same


def test_pages_have_blocks():
    assert sum(1 for _ in blocks(ROOT / "docs" / "extending.md")) >= 6


def test_the_canonicalizer_of_the_tutorial_has_ten_lines():
    (code,) = (
        code
        for _, code, _ in blocks(ROOT / "docs" / "extending.md")
        if "@register\nclass TrimmedMeanCanonicalizer" in code
    )
    lines = code[code.index("class ") :].splitlines()
    assert len([line for line in lines if line.strip()]) <= 10
