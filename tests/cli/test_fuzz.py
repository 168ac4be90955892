"""Whatever is typed, a command ends in words and a code: no traceback, no data."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pacsklearn.cli.app import app

WORDS = st.sampled_from(
    [
        *("release", "ledger", "found", "verify", "budget", "plugins", "audit", "schema", "report"),
        *("--nats", "--membership", "--target", "--output", "--ceiling", "--estimator", "--json"),
        *("sqlite:///x.db", "postgresql://u:secret@127.0.0.1:1/x", "nan", "1/0", "2^-8", "-1", ""),
        *("Ridge", "os.system", "rows.csv", "/", ".", "\x00", "\ud800", "1e400", "x" * 3000),
    ]
)


@pytest.mark.soak
@settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_any_words(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,private-7\n2,private-8\n")
    found = CliRunner().invoke(app, words)
    assert found.exit_code in (0, 1, 2, 130)
    assert "Traceback" not in found.output
    assert "private-7" not in found.output


@pytest.mark.parametrize("command", [["verify"], ["show"], ["found"]])
def test_a_password_in_an_address_is_not_shown(command):
    address = "postgresql://u:secret@127.0.0.1:1/x"
    options = ["--ceiling", "1"] if command == ["found"] else []
    found = CliRunner().invoke(app, ["ledger", *command, address, *options])
    assert found.exit_code != 0
    assert "secret@" not in found.output


@pytest.mark.parametrize(
    "words",
    [["ledger"], ["ledger", "show", "clinic.db"], ["release", "rows.csv", "-o"]],
    ids=" ".join,
)
def test_a_password_out_of_place_is_not_shown(words):
    address = "postgresql://u:secret@127.0.0.1:1/x"
    options = ["--ledger", address] if words[-1] == "-o" else []
    found = CliRunner().invoke(app, [*words, address, *options])
    assert found.exit_code == 2
    assert "u:***@127.0.0.1" in found.output
    assert "secret@" not in found.output


@pytest.mark.parametrize(
    "address",
    ["host=h password=secret", "postgres:u:secret@h", "u:secret@h", "postgresql//u:secret@h/x"],
)
def test_a_password_in_an_address_of_another_form_is_not_shown(address):
    for words in (["show", address], ["found", address, "--ceiling", "1"]):
        found = CliRunner().invoke(app, ["ledger", *words])
        assert found.exit_code == 2
        assert "secret" not in found.output
        assert "postgresql://user:password@host" in found.output


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"a,b\n", b"a;b\n1;2;3\n", b"\xff\xfe"])
def test_any_table(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    arguments = ["release", str(path), "--estimator", "Ridge", "--target", "b"]
    found = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "m.joblib")])
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output
    assert not (tmp_path / "m.joblib").exists()
