"""The package and its plugins as parsed sources, once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pacsklearn"


@cache
def sources() -> dict[Path, ast.Module]:
    """Every file of the package and of the plugins."""
    files = [*PACKAGE.rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(files)}


def package() -> dict[str, ast.Module]:
    """Those of the package, by their place in it."""
    return {
        file.relative_to(PACKAGE).as_posix(): tree
        for file, tree in sources().items()
        if file.is_relative_to(PACKAGE)
    }
