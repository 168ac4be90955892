"""The key outside the database."""

from __future__ import annotations

import pickle
import resource
from pathlib import Path

import pytest
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.vault import Vault, make_key_file

from pacsklearn.exceptions import LedgerCorruptedError, SessionFileError


def test_what_is_sealed_opens_in_its_place_only() -> None:
    vault = Vault(bytes(32))
    sealed = vault.seal(b"rows", "model/a")
    assert vault.open(sealed, "model/a") == b"rows"
    assert vault.seal(b"rows", "model/a") != sealed
    altered = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for wrong, place in ((sealed, "model/b"), (altered, "model/a"), (b"", "model/a")):
        with pytest.raises(LedgerCorruptedError):
            vault.open(wrong, place)
    with pytest.raises(LedgerCorruptedError):
        Vault(bytes(31) + b"1").open(sealed, "model/a")


def test_names_of_queries_need_the_key() -> None:
    vault = Vault(bytes(32))
    assert vault.name(b"digest", "a") == Vault(bytes(32)).name(b"digest", "a")
    others = {vault.name(b"digest", "b"), vault.name(b"other", "a"),
              Vault(b"1" * 32).name(b"digest", "a"), vault.name(b"digest", "a")}  # fmt: skip
    assert len(others) == 4


def test_a_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "service.key"
    make_key_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Vault" in repr(Vault.from_file(path))
    with pytest.raises(FileExistsError):
        make_key_file(path)
    path.chmod(0o640)
    with pytest.raises(SessionFileError, match="chmod"):
        Vault.from_file(path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(SessionFileError, match="bytes"):
        Vault.from_file(path)
    with pytest.raises(TypeError):
        pickle.dumps(Vault(bytes(32)))


def test_a_key_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path, (soft, hard) = tmp_path / "service.key", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # as on a disk that is full
    try:
        with pytest.raises(OSError, match="large"):
            make_key_file(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())
    make_key_file(path)
    assert [each.name for each in tmp_path.iterdir()] == ["service.key"]


def test_a_minute_begins_with_the_first_request() -> None:
    limit = RateLimit(60)
    for _ in range(60):
        limit.take("ann", 0)
        limit.take("ann")
    for cost in (0, 1):
        with pytest.raises(Problem) as refused:
            limit.take("ann", cost)
        assert 1 <= refused.value.more["retry_after"] <= 61
    limit.take("bob")
