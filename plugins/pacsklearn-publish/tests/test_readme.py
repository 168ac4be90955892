"""Runs where the packages the adapters are for are not installed, too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("adapter", ["mlflow", "huggingface"])
def test_the_readme_uses_what_an_adapter_offers(adapter):
    source = ROOT / "src" / "pacsklearn_publish" / f"{adapter}.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    (imported,) = re.findall(rf"from pacsklearn_publish\.{adapter} import (.+)", README)
    assert set(imported.split(", ")) <= defined


def test_runs_go_to_a_store_that_is_there():
    (block,) = re.findall(r"```python\n(import mlflow\n.*?)```", README, re.DOTALL)
    before, _, _ = block.partition("mlflow.start_run")
    # Without one it fails: the small MLflow has no store.
    assert "mlflow.set_tracking_uri(" in before


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example, *others = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for block in others:
        ast.parse(block)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own page
    assert "at most 83.79 %" in capsys.readouterr().out
