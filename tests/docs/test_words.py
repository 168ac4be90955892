"""One word for one thing, and numbers that can be read, on every page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.public import PUBLIC

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, TABLE = GLOSSARY.split("\n## Words that these pages do not use\n")
DEFINED = re.findall(r"^([A-Z][^\n]+)\n: ", TERMS, re.MULTILINE)
AVOIDED = re.findall(r"^\| ([a-z][^|]+) \| [^|]+ \|$", TABLE, re.MULTILINE)[1:]
FIRST = ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
PAGES = [ROOT / f"{name}.md" for name in FIRST] + sorted((ROOT / "docs").rglob("*.md"))
PAGES += sorted((ROOT / "plugins").glob("*/README.md"))
PAGES = [page for page in PAGES if not {"_build", "generated", "auto_examples"} & set(page.parts)]
NO_VERB = re.compile(
    r"(A|An|The|What|Which|How|Where|Whether|One|Some|Every|Each|Nothing|This|These|Explicit|Plain|"
    r"Most|Exact|Private|Prior|Same|Data|[A-Z][a-z]+s)\b"
)
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


def first_lines() -> Iterator[tuple[str, str]]:
    """First line of the docstring of each public function and method of ours."""
    for name, target in PUBLIC.items():
        members = vars(target).items() if inspect.isclass(target) else [(name, target)]
        for member, value in members:
            written = inspect.getdoc(getattr(value, "__func__", value))
            is_function = inspect.isroutine(getattr(value, "__func__", value))
            if is_function and written and not member.startswith("_"):
                yield f"{name}.{member}", written.split("\n")[0]


def test_public_functions_say_what_they_do_in_the_imperative() -> None:
    lines = list(first_lines())
    assert len(lines) > 100
    told = [(name, line) for name, line in lines if NO_VERB.match(line)]
    assert not told, "begin with a verb: Return, Draw, Read, Check, ..."
