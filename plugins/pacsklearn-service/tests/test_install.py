"""What is installed without the extra server: a client that needs nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pacsklearn_service.commands import service
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALONE = "import os, sys\nsys.modules.update(dict.fromkeys({server!r}))\n"  # None: not importable
IMPORTED = {
    "prometheus-client": "prometheus_client", "pydantic-settings": "pydantic_settings",
    "python-multipart": "python_multipart",
}  # fmt: skip


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter without the packages of the extra."""
    listed = PROJECT["optional-dependencies"]["server"]
    own = ("pacsklearn", "pydantic")  # typer takes pydantic where it is installed
    names = [re.split(r"[\[>]", each)[0] for each in listed if not each.startswith(own)]
    assert len(names) > 5
    server = [IMPORTED.get(name, name) for name in names]
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", ALONE.format(server=server) + code],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.soak
def test_the_client_brings_no_other_package() -> None:
    assert PROJECT["dependencies"] == ["pacsklearn==0.1.*"]
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    done = run(example)
    assert done.returncode == 0, done.stderr


def test_serving_names_what_is_missing_before_anything_is_made(tmp_path: Path) -> None:
    done = run(
        f"os.chdir({str(tmp_path)!r})\n"
        "from pacsklearn_service.commands import service\n"
        "service(['run'])\n"
    )
    assert done.returncode == 2, done.stderr
    assert "fastapi" in done.stderr
    assert 'pip install . "./plugins/pacsklearn-service[server]"' in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_address_that_no_plugin_knows_is_refused_before_a_key_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACSKLEARN_SERVICE_DATABASE", "nobodys://host/name")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(service, ["run"])
    assert done.exit_code == 2
    assert "nobodys" in done.output
    assert not list(tmp_path.iterdir())


def test_a_web_worker_begins_with_what_reads_tables_and_without_what_fits() -> None:
    """The first caller with a table does not wait, with all others, for a library to be loaded."""
    code = (
        "import sys, pacsklearn_service.server.web.worker as _\n"
        "from pacsklearn_service.server.web.table_body import any_table\n"
        "before = {*sys.modules}\n"
        "any_table(b'a,b\\n1,x\\n', 'text/csv', most=10, most_bytes=1000)\n"
        "print(sorted({'scipy', 'sklearn'} & before), {*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    assert done.stdout == "[] set()\n"


@pytest.mark.soak
def test_a_coordinator_says_that_it_is_ready_when_what_reads_sessions_is_loaded() -> None:
    """Whoever takes over loads no library then: skops alone takes seconds."""
    code = (
        "import sys, pacsklearn_service.server.answering.warm_up as warm\n"
        "warm._ROWS = 2**4\n"
        "warm.warm_up()\n"
        "print('skops.io' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    assert done.stdout == "True\n"
