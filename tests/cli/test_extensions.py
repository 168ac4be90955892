"""Commands of other distributions: added, never replaced, and none takes the others along."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from pacsklearn.cli.extensions import added_commands
from pacsklearn.exceptions import PluginError

GUEST = """
from pacsklearn.cli.console import guarded

@guarded
def greet(name: str) -> None:
    "Greet somebody."
    if name == "nobody":
        raise ValueError("There is nobody.")
    print(f"Good day, {name}.")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with commands on the path, as an installer would."""

    def put(name: str, **commands: str) -> Path:
        place = tmp_path / name
        info = place / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        lines = [f"{command} = {target}" for command, target in commands.items()]
        (info / "entry_points.txt").write_text("\n".join(["[pacsklearn.commands]", *lines]))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (place / f"{name}_package.py").write_text(GUEST)
        monkeypatch.syspath_prepend(str(place))
        importlib.invalidate_caches()
        return place

    return put


def shell(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(place)!r}); sys.argv[1:] = {list(words)!r}\n"
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", f"{code}from pacsklearn.cli.__main__ import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_command_of_another_distribution_is_one_of_pacsklearns(install):
    place = install("guest", greet="guest_package:greet")
    assert "Greet somebody." in shell(place, "--help").stdout
    assert shell(place, "greet", "Ann").stdout == "Good day, Ann.\n"
    refused = shell(place, "greet", "nobody")
    assert refused.returncode == 2
    assert refused.stderr == "Error: There is nobody.\n"  # its words are its own to show


def test_one_that_is_broken_says_so_and_takes_no_other_along(install):
    place = install("guest", greet="guest_package:greet", leave="guest_package:nothing_here")
    refused = shell(place, "leave", "--at", "once")
    assert refused.returncode == 2
    assert "guest 1.0" in refused.stderr
    assert "AttributeError" in refused.stderr
    assert shell(place, "greet", "Ann").returncode == 0


def test_nobody_takes_a_name_that_is_taken(install):
    install("first", greet="first_package:greet", budget="first_package:greet")
    install("second", greet="second_package:greet")
    found = added_commands({"budget"})
    for name, owners in (
        ("greet", ("first 1.0", "second 1.0")),
        ("budget", ("pacsklearn", "first")),
    ):
        assert isinstance(found[name], PluginError)
        assert all(owner in str(found[name]) for owner in owners)


def test_what_is_not_installed_is_named_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setattr("pacsklearn.cli.extensions.entry_points", lambda **_: ())
    found = added_commands(())
    assert {"key", "publish", "verify"} <= set(found)
    for name in ("key", "publish", "verify"):
        assert "pip install . ./plugins/pacsklearn-publish" in str(found[name])
