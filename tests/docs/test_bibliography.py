"""Sources can be looked up: every guarantee leads to its paper, and pacsklearn can be cited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pacsklearn

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = dict(
    part.split("\n", 1)
    for part in (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8").split("\n## ")[1:]
)
PAPERS = [name for name in ENTRIES if " " not in name]
GUARANTEES = sorted(
    page for page in (ROOT / "docs" / "guarantees").glob("*.md") if page.stem != "index"
)
# A path, a file or a link holds a short name too; a source is named before a comma or alone.
BARE = re.compile(rf"(?<![\w./#\[`-])({'|'.join(PAPERS)})(?=[,;)\s])")
LINK = re.compile(r"\[([\w-]+)\]\(\.\./bibliography\.md#([\w-]+)\)")


def cited(page: Path) -> list[tuple[str, str]]:
    return LINK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", GUARANTEES, ids=[page.stem for page in GUARANTEES])
def test_every_guarantee_leads_to_its_paper(page):
    found = cited(page)
    assert found, f"{page.name} names no paper"
    for name, entry in found:
        assert name == entry
        assert name in PAPERS
    assert not BARE.findall(page.read_text(encoding="utf-8")), "name it as a link"


def test_every_entry_is_cited():
    assert set(PAPERS) == {entry for page in GUARANTEES for _, entry in cited(page)}
    assert len(PAPERS) == 5


def test_the_citation_is_that_of_this_version():
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == pacsklearn.__version__
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    text = " ".join("\n".join(ENTRIES.values()).split()).lower()
    for paper in citation["references"]:
        assert f"*{paper['title'].lower()}.*" in text
        for author in paper["authors"]:
            assert f"{author['given-names']} {author['family-names']}".lower() in text
    assert len(citation["references"]) == len(PAPERS)
