"""One word for one thing, and numbers that can be read, on every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, TABLE = GLOSSARY.split("\n## Words that these pages do not use\n")
DEFINED = re.findall(r"^([A-Z][^\n]+)\n: ", TERMS, re.MULTILINE)
AVOIDED = re.findall(r"^\| ([a-z][^|]+) \| [^|]+ \|$", TABLE, re.MULTILINE)[1:]
FIRST = ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
PAGES = [ROOT / f"{name}.md" for name in FIRST] + sorted((ROOT / "docs").rglob("*.md"))
PAGES += sorted((ROOT / "plugins").glob("*/README.md"))
PAGES = [page for page in PAGES if not {"_build", "generated", "auto_examples"} & set(page.parts)]
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)\n]*\)|\$[^$\n]*\$", re.DOTALL)


def prose(page: Path) -> str:
    """Text of a page without code, links and formulas."""
    return CODE.sub(" ", page.read_text(encoding="utf-8"))


def test_the_glossary_defines_each_word_once() -> None:
    words = [word.strip().lower() for line in DEFINED for word in line.split(",")]
    assert len(words) >= 40
    assert len(words) == len(set(words))


def test_words_of_the_glossary_are_used() -> None:
    text = " ".join(prose(page).lower() for page in PAGES if page.name != "glossary.md")
    for line in DEFINED:
        assert any(word.strip().lower() in text for word in line.split(",")), line


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_a_page_uses_one_word_for_one_thing(page: Path) -> None:
    if page.name == "glossary.md":
        return
    text = prose(page).lower()
    for word in re.sub(r"\([^)]*\)", "", ",".join(AVOIDED)).split(","):
        assert not re.search(rf"\b{word.strip()}s?\b", text), f"{page.name}: {word}"


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_numbers_have_a_leading_zero(page: Path) -> None:
    found = re.findall(r"(?<![\w.])-?\.\d+", prose(page))
    assert not found, f"{page.name}: {found}"
