from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch) -> Path:
    """Keep the tests away from the user's own data folder and from the network."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.delenv("PACSKLEARN_DATA", raising=False)

    def refuse(url, *_, **__):
        raise OSError(f"no network in tests: {url}")

    monkeypatch.setattr("pacsklearn.datasets.loader.fetch_file", refuse)
    return home


@pytest.fixture
def zipped() -> Callable[[dict[str, str | bytes]], bytes]:
    def build(members: dict[str, str | bytes]) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()

    return build
