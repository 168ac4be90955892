"""Contested rows, and a watch on the secret."""

from __future__ import annotations

from typing import Any

import pytest

from pacsklearn.kernel.release.account import Secret
from tests.kernel.answers.contested import contested_rows


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return contested_rows()


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows whenever the secret is looked at."""
    looks: list[int] = []
    index = Secret.index.fget

    def spy(self: Secret) -> int:
        looks.append(1)
        return index(self)

    monkeypatch.setattr(Secret, "index", property(spy))
    return looks
