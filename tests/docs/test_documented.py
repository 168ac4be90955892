"""What exists is documented: names, hooks, errors, command-line options, guarantees, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pacsklearn import exceptions, testing
from pacsklearn._discovery import public_kinds
from pacsklearn.plugins import registry
from tests.public import MODULES, PUBLIC

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
API = (DOCS / "api.rst").read_text(encoding="utf-8")
ENTRY = re.compile(r"^(?:   |\.\. automodule:: )(pacsklearn[\w.]+)$", re.MULTILINE)
HOOKS = [kind.hook for kind in public_kinds().values()]
DECLARED_IN = (
    "pacsklearn.kernel.hooks",
    "pacsklearn.canonical.hooks",
    "pacsklearn.estimators.hooks",
    "pacsklearn.srpp.hooks",
    "pacsklearn.audit.hooks",
)
NO_PROMISE = {"index", "mended", "proofs"}  # lists of the others
GUARANTEES = sorted(
    page for page in (DOCS / "guarantees").glob("*.md") if page.stem not in NO_PROMISE
)
PARTS = (
    "## Statement",
    "## Assumptions",
    "## Why it holds",
    "## What it does not say",
    "## Checked by",
)
TEST = re.compile(r"`((?:plugins/[\w-]+/)?tests/[\w/]+\.py)(?:::(\w+))?`")
VARIABLE = re.compile(r"PACSKLEARN_[A-Z_]*[A-Z]")


def pages() -> dict[str, str]:
    """Text of every page that is written by hand."""
    found = {}
    for path in [*DOCS.glob("*.md"), *DOCS.glob("*.rst"), *DOCS.glob("guarantees/*.md")]:
        found[path.relative_to(DOCS).as_posix()] = path.read_text(encoding="utf-8")
    return found


PAGES = pages()
EVERYTHING = "\n".join(PAGES.values())


def referenced() -> list[str]:
    """Full names of what the API reference shows."""
    return ENTRY.findall(API)


def test_every_public_name_is_in_the_reference() -> None:
    shown = set(referenced())
    for name, target in PUBLIC.items():
        home = f"{getattr(target, '__module__', '')}.{name}"
        assert ({f"{module}.{name}" for module in MODULES} | {home}) & shown, (
            f"add {name} to docs/api.rst"
        )


def test_every_check_is_in_the_reference() -> None:
    assert {f"pacsklearn.testing.{name}" for name in testing.__all__} <= set(referenced())


def test_what_the_reference_shows_exists() -> None:
    for name in sorted(set(referenced())):
        owner, _, attribute = name.rpartition(".")
        try:
            import_module(name)
        except ModuleNotFoundError:
            assert hasattr(import_module(owner), attribute), name


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented(hook: str) -> None:
    assert f"`{hook}`" in PAGES["extending.md"], "add it to the table of docs/extending.md"
    assert set(DECLARED_IN) <= set(referenced())
    assert any(hasattr(import_module(module), hook) for module in DECLARED_IN)


def test_every_error_has_a_row_and_advice() -> None:
    for name in exceptions.__all__:
        row = re.search(rf"^\| `{name}` \|(.+)\|(.*)\|$", PAGES["errors.md"], re.MULTILINE)
        assert row, f"add {name} to docs/errors.md"
        assert row[1].strip(), name
        assert row[2].strip() or "base class" in row[1], name


@pytest.mark.parametrize("kind", ["noise_backend", "budget", "scenario", "attack"])
def test_every_built_in_plugin_is_documented(kind: str) -> None:
    for each in registry().registrations(kind):
        if each.distribution == "pacsklearn":
            target = each.provenance.target.rpartition(":")[2]
            assert f"`{each.name}`" in EVERYTHING or re.search(
                rf'["`.]{each.name}["`]|\b{target}\b', EVERYTHING
            ), f"no page mentions the {kind} {each.name!r} ({target})"


def test_every_display_is_shown_and_says_who_may_see_it() -> None:
    displays = [name for name in PUBLIC if name.endswith("Display")]
    assert displays
    for name in displays:
        assert re.search(rf"^\| `{name}` \| .+ \| .+ \|$", PAGES["displays.md"], re.MULTILINE), name


def test_every_environment_variable_is_documented() -> None:
    read = set()
    for path in (ROOT / "pacsklearn").rglob("*.py"):
        read |= set(VARIABLE.findall(path.read_text(encoding="utf-8")))
    assert read
    assert not {name for name in read if f"`{name}" not in PAGES["errors.md"]}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of a tree, with the words that lead to it."""
    if subcommands := getattr(command, "commands", None):
        for name, child in subcommands.items():
            yield from commands(child, (*path, name))
    else:
        yield path, command


def test_every_command_and_option_is_documented() -> None:
    typer = pytest.importorskip("typer", reason="typer is not installed")
    try:
        from pacsklearn.cli.app import app
    except ModuleNotFoundError as error:
        pytest.skip(f"the command line cannot be imported: {error.name} is missing")
    if "command_line.md" not in PAGES:
        pytest.skip("docs/command_line.md is not there")
    page, seen = PAGES["command_line.md"], 0
    for path, command in commands(typer.main.get_command(app)):
        name = " ".join(path)
        assert f"pacsklearn {name}" in page or f"`{name}`" in page, name
        for option in command.params:
            for flag in (*option.opts, *option.secondary_opts):
                if flag.startswith("--") and flag != "--help":
                    seen += 1
                    assert re.search(rf"{flag}(?![\w-])", page), f"{name}: {flag}"
    assert seen > 0


@pytest.mark.parametrize("page", GUARANTEES, ids=[page.stem for page in GUARANTEES])
def test_a_guarantee_says_what_it_must(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = [text.find(f"\n{part}\n") for part in PARTS]
    assert -1 not in places, f"{page.name} lacks {PARTS[places.index(-1)]!r}"
    assert places == sorted(places)
    named = TEST.findall(text[places[-1] :])
    assert len(named) >= 4
    for file, test in named:
        assert (ROOT / file).is_file(), f"{page.name} names {file}, which does not exist"
        if test:
            source = (ROOT / file).read_text(encoding="utf-8")
            assert f"def {test}(" in source, f"{page.name} names {file}::{test}"


def test_every_guarantee_is_listed() -> None:
    listed = PAGES["guarantees/index.md"].split("```")[1].split()
    assert {page.stem for page in GUARANTEES} <= set(listed)


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = set()
    for name in ("index.md", "guarantees/index.md"):
        folder = Path(name).parent
        for block in re.findall(r"```\{toctree\}\n(.*?)```", PAGES[name], re.DOTALL):
            listed |= {(folder / line).as_posix() for line in block.split() if line[0] != ":"}
    written = {name.rpartition(".")[0] for name in PAGES if name != "index.md"}
    assert not written - listed, "add them to docs/index.md"


def test_links_between_pages_lead_somewhere() -> None:
    for name, page in PAGES.items():
        text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" in target or target.startswith(("auto_examples/", "auto_studies/")):
                continue
            assert ((DOCS / name).parent / target).exists(), f"{name} links to {target}"


def test_the_programs_that_pages_cite_exist() -> None:
    for program in set(
        re.findall(r"`((?:benchmarks|examples|scripts|plugins)/[\w./-]+)", EVERYTHING)
    ):
        assert (ROOT / program).exists(), program


def test_the_diagram_has_the_boxes_of_its_program() -> None:
    program = (DOCS / "diagrams" / "lifecycle.py").read_text(encoding="utf-8")
    drawn = (DOCS / "diagrams" / "lifecycle.svg").read_text(encoding="utf-8")
    boxes = re.findall(r'(?:SECRET|PUBLIC|OUT|MONEY),\s+"([\w ]+)",\s+"([^"\\]+)', program)
    assert len(boxes) == 9
    for title, first_line in boxes:
        assert f">{title}<" in drawn
        assert f">{first_line}<" in drawn
