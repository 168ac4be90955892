"""Runs where the package the adapter is for is not installed, too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pacsklearn_mlflow" / "__init__.py"


def test_the_readme_uses_what_the_package_offers():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (imported,) = re.findall(r"from pacsklearn_mlflow import (.+)", readme)
    assert set(imported.split(", ")) <= defined
    for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        ast.parse(block)
