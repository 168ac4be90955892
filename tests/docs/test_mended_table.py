"""The page of mended promises names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_attack_named_is_a_test() -> None:
    page = (ROOT / "docs/guarantees/mended.md").read_text()
    named = re.findall(r"`((?:plugins/[\w-]+/)?tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 30
    for path, name in named:
        assert not name or f"def {name}(" in (ROOT / path).read_text(), (path, name)
