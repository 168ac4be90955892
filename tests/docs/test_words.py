"""One word for one thing, and numbers that can be read, on every page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import ROOT, sources

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, TABLE = GLOSSARY.split("\n## Words that these pages do not use\n")
DEFINED = re.findall(r"^([A-Z][^\n]+)\n: ", TERMS, re.MULTILINE)
AVOIDED = re.findall(r"^\| ([a-z][^|]+) \| [^|]+ \|$", TABLE, re.MULTILINE)[1:]
FIRST = ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
PAGES = [ROOT / f"{name}.md" for name in FIRST] + sorted((ROOT / "docs").rglob("*.md"))
PAGES += sorted((ROOT / "plugins").glob("*/README.md"))
PAGES = [page for page in PAGES if not {"_build", "generated", "auto_examples"} & set(page.parts)]
# With which first lines begin; a verb that is missing here can be added.
VERBS = frozenset(
    re.findall(
        r"\w+",
        """
    Add Advance Answer Append Apply Arrange Ask Attack Average Be Begin Bound Bring Calibrate
    Call Certify Charge Check Choose Clip Clone Close Compare Compose Compute Confirm Convert
    Copy Count Credit Cut Deal Debit Declare Decorate Decrypt Delete Divide Do Draft Draw
    Duplicate Encode Encrypt End Estimate Evaluate Execute Fill Find Fit Fix Forget Found Give
    Go Grow Halve Have Hold Host Import Insert Iterate Keep Kill Label Lay Learn Leave Let List
    Listen Load Log Look Lower Make Measure Merge Minimise Multiply Name Note Number Open Pair Plan
    Play Position Predict Prepare Print Project Promise Propose Push Put Raise Read Recompute
    Record Refuse Register Rehearse Release Remember Remove Replace Replay Reply Reserve Restore
    Return Revoke Round Run Save Say Scale Score See Send Serve Set Share Show Sign Simulate
    Solve Stack Start State Steady Stop Store Sum Take Tell Trade Train Transform Transpose Turn
    Undo Update Use Validate Verify Wait Warn Wipe Withhold Write Yield
    """,
    )
)
NOUN = re.compile(
    r"(Answer|Bound|Copy|Count|Draft|Estimate|Plan|Release|Scale|Score|State|Sum) (of|that|on the) "
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
    """Place and first line of the docstring of each function; properties are named as nouns are."""
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
                written = ast.get_docstring(node)
                if written and "property" not in decorators:
                    place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}"
                    yield place, written.split("\n")[0]


def test_functions_say_what_they_do_in_the_imperative() -> None:
    lines = list(first_lines())
    assert len(lines) > 2000
    told = [
        f"{place}: {line}"
        for place, line in lines
        if re.split(r"[ ,;:.]", line)[0] not in VERBS or NOUN.match(line)
    ]
    assert not told, "begin with a verb: Return, Draw, Read, Check, ...\n" + "\n".join(told)
