"""``pacsklearn service`` called wrongly: one sentence names what is wrong, and nothing is made."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import certifi
import pytest
from pacsklearn_service.server.server import Server
from pacsklearn_service.server.vault import Vault, make_key_file
from typer.testing import CliRunner

from pacsklearn.cli.app import app


def called(*words: str) -> str:
    """What is said, where the command is used wrongly."""
    done = CliRunner().invoke(app, ["service", *words])
    assert done.exit_code == 2, done.output
    assert "withheld" not in done.output
    return done.output


@pytest.mark.parametrize(("content", "words"), [
    (b"port = = se-cret", "line 1, column 8"), (b"\xff", "position 0"),
    (b"port = 1\nport = 2\n", "line 2"),
    (b'certificate = "no.pem"\nprivate_key = "no.key"', "certificate must be a PEM"),
    (b'ca_file = "no.pem"', "ca_file must be a PEM"),
    (b'certificate = "a b.toml"\nprivate_key = "a b.toml"', "certificate must be a PEM"),
    (f'certificate = "{certifi.where()}"\nprivate_key = "no.key"'.encode(), "private_key must be"),
    (b'database = "mysql://me:se-cret@host/name"', "database: must be an address"),
    (b'database = "mysql://me:se-cret@host/name"', "mysql://me:***@host/name"),
    (b'database = "service.db"', "got 'service.db'"),
])  # fmt: skip
def test_a_configuration_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.toml").write_bytes(content)
    said = called("run", "--config", "a b.toml")
    assert words in " ".join(said.split())
    assert "se-cret" not in said
    assert [each.name for each in tmp_path.iterdir()] == ["a b.toml"]


def test_a_health_port_is_of_one_process(new_house: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        house = new_house(health_port=taken.getsockname()[1])
        with pytest.raises(ValueError, match="health_port"):
            asyncio.run(Server(house.coordinator).run())


def test_a_host_that_cannot_be_is_no_standby(
    new_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = new_house(host="name.invalid", trust_proxy=True)
    for each in ("start", "stop"):  # it has begun
        monkeypatch.setattr(house.coordinator, each, lambda: None)
    with pytest.raises(ValueError, match="host or port cannot be used"):
        asyncio.run(asyncio.wait_for(Server(house.coordinator).run(), 60))


def test_of_several_that_start_at_once_one_makes_the_key(tmp_path: Path) -> None:
    path, keys, lost = tmp_path / "service.key", set[bytes](), []

    def start() -> None:
        try:
            make_key_file(path)
        except FileExistsError:
            lost.append(1)
        keys.add(Vault.from_file(path).public_key)  # a whole one, and the same for all

    threads = [threading.Thread(target=start) for _ in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (len(keys), len(lost)) == (1, 15)
    assert [each.name for each in tmp_path.iterdir()] == ["service.key"]
