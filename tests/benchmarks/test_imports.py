"""Programs that no test runs import names that are there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")]


@pytest.mark.parametrize("program", PROGRAMS, ids=[each.stem for each in PROGRAMS])
def test_what_a_program_imports_of_ours_is_there(program: Path) -> None:
    for node in ast.walk(ast.parse(program.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("pacsklearn"):
            continue
        assert node.module is not None
        if not node.module.startswith("pacsklearn."):
            pytest.importorskip(node.module.partition(".")[0])  # a plugin that is not installed
        module = importlib.import_module(node.module)
        for name in node.names:
            assert hasattr(module, name.name), f"{node.module}.{name.name}, line {node.lineno}"
