"""Every promise has its row: statement, assumptions, proof, test and attack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pacsklearn.plugins import registry
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "guarantees"
NAMED = re.compile(r"^(noise backend|budget|scenario|accountant) `([^`]+)`$")


def rows():
    lines = (PAGES / "proofs.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert table[0] == "| part | statement | assumptions | proof | test | attack |"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1:]]


def expected():
    known = registry()
    for kind in ("noise_backend", "budget", "scenario"):
        for name in known.names(kind):
            if known.provenance(kind, name).distribution == "pacsklearn":
                yield kind.replace("_", " "), name
    yield from (("accountant", name) for name in ACCOUNTINGS)


def test_no_backend_budget_scenario_or_accountant_is_without_its_row():
    listed = [match.groups() for row in rows() if (match := NAMED.match(row[0]))]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(expected())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_cell_leads_somewhere(row):
    part, statement, assumptions, proof, test, attack = row
    assert min(map(len, (part, statement, assumptions))) > 0
    page = re.fullmatch(r"\[(\w+)\]\((\w+\.md)\)", proof)
    text = (PAGES / page[2]).read_text(encoding="utf-8")
    assert "## Statement" in text or "## Two kinds" in text
    assert "## Why it holds" in text
    file = ROOT / test.strip("`")
    assert re.search(r"^def test_", file.read_text(encoding="utf-8"), re.MULTILINE)
    # The page that proves it names the test, so that a reader finds it from either side.
    checked = "".join(each.read_text(encoding="utf-8") for each in PAGES.glob("*.md")
                      if each.name != "proofs.md")  # fmt: skip
    assert test.strip("`") in checked
    assert attack.strip("`") in registry().names("attack")
