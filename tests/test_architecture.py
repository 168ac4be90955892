"""ARCHITECTURE.md names what is there, where it is."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.sources import package

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
EXCEPTIONS = 0
"""Imports that point outward; may only shrink."""
DISTRIBUTIONS = ("attacks", "bigdata", "papers", "postgres", "publish", "service", "trees")
WORDS = ("law", "step", "world", "gauge", "belief", "candidate", "support", "encoding")
MEASURE = runpy.run_path(str(ROOT / "scripts" / "measure.py"))


@cache
def imported() -> dict[str, set[str]]:
    """Modules of the package that each of them imports, also inside functions."""
    modules = MEASURE["modules_of"](ROOT)
    return {
        name: MEASURE["imports_of"](path.read_text(encoding="utf-8"), modules, inner=True)
        for name, path in modules.items()
    }


def nouns() -> list[tuple[list[str], list[str]]]:
    """Names and files of each row of the table of nouns."""
    table = TEXT.partition("\n## Nouns\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[:2] for line in table.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`(\w+)`", names), re.findall(r"`(\S+)`", files)) for names, files in rows]


def defined(file: str) -> set[str]:
    source = (ROOT if file.startswith("plugins/") else ROOT / "pacsklearn") / file
    assert source.is_file(), f"ARCHITECTURE.md names a file that is not there: {file}"
    names: set[str] = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(one.id for one in targets if isinstance(one, ast.Name))
    return names


def test_every_noun_is_where_the_table_says() -> None:
    rows = nouns()
    assert len(rows) > 60
    for names, files in rows:
        missing = set(names) - set().union(*map(defined, files))
        assert not missing, f"{missing} is in none of {files}"


def test_every_file_that_is_named_exists() -> None:
    for file in re.findall(r"`(\w+/[\w/-]+\.py)`", TEXT):
        assert any((folder / file).is_file() for folder in (ROOT, ROOT / "pacsklearn")), file


def test_every_ring_knows_the_rings_that_the_table_names() -> None:
    table = TEXT.partition("\n## Rings\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[\w/`, ]+`) \|.*\| *([^|]*?) *\|$", table, re.MULTILINE)
    stated = {ring: known for rings, known in rows for ring in re.findall(r"`(\w+)`", rings)}
    imports: dict[str, set[str]] = {}
    for name, found in imported().items():
        imports.setdefault(f"{name}.".split(".")[1], set()).update(
            f"{one}.".split(".")[1] for one in found
        )
    rings = {path.parent.name for path in (ROOT / "pacsklearn").glob("*/__init__.py")} - {"kernel"}
    assert set(stated) == rings
    for ring, known in stated.items():
        if known != "all":
            named = set(re.findall(r"`(\w+)`", known))
            assert imports.get(ring, set()) & rings - {ring, "universe"} == named, ring


def test_the_glossary_has_the_words_that_the_code_uses() -> None:
    glossary = TEXT.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    for word in WORDS:
        assert f"\n| {word} | " in glossary, word


def test_no_files_import_each_other_in_a_circle() -> None:
    assert MEASURE["circles_of"](imported()) == []


def test_imports_against_the_arrows_become_fewer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = contracts["importlinter"]["contracts"][0]
    assert len(layers["ignore_imports"]) <= EXCEPTIONS


def test_the_kernel_knows_no_file_outside_it() -> None:
    kernel = {name for name in imported() if f"{name}.".startswith("pacsklearn.kernel.")}
    floor = set(MEASURE["FLOOR"])
    for name in kernel:
        outside = imported()[name] - kernel - floor
        assert not outside, f"{name} imports {outside}"
    for name in floor:
        assert imported()[name] <= floor, name


def test_nothing_under_a_lock_of_the_kernel_branches_in_a_loop() -> None:
    """CPython 3.12 and 3.13 let an interrupt between two rounds leave the lock taken for ever."""
    kernel = {place: tree for place, tree in package().items() if place.startswith("kernel/")}
    for place, tree in kernel.items():
        for block in (node for node in ast.walk(tree) if isinstance(node, ast.With)):
            held = " ".join(ast.unparse(item.context_expr) for item in block.items)
            if not re.search(r"lock|guard|MUTEX|_STREAMS", held):
                continue
            for node in (inner for line in block.body for inner in ast.walk(line)):
                chooses = isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp) and any(
                    each.ifs for each in node.generators
                )
                loops = isinstance(node, ast.For | ast.While) and isinstance(node.body[-1], ast.If)
                assert not chooses, f"{place}:{node.lineno}: use filter(), or a function"
                assert not loops, f"{place}:{node.lineno}: move the loop into a function"


def test_distributions_share_one_version_and_require_each_other_by_it() -> None:
    def project(file: Path) -> dict[str, Any]:
        return tomllib.loads(file.read_text(encoding="utf-8"))["project"]

    version = project(ROOT / "pyproject.toml")["version"]
    pin = f"=={'.'.join(version.split('.')[:2])}.*"
    for name in DISTRIBUTIONS:
        stated = project(ROOT / "plugins" / f"pacsklearn-{name}" / "pyproject.toml")
        assert stated["version"] == version, name
        assert f"pacsklearn{pin}" in stated["dependencies"], name
