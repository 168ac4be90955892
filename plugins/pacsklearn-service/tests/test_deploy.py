"""The commands of ``deploy``, each run by a shell."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[3] / "deploy"
COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
STATED: Any = yaml.safe_load(COMPOSE)


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own code
        ["sh", "-c", command],  # noqa: S607
        check=False, cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_every_container_can_read_the_password_and_nobody_else(tmp_path: Path) -> None:
    commands = re.findall(r"^#   (.+)$", COMPOSE, re.MULTILINE)
    (tmp_path / "deploy").mkdir()
    written = shell(f"umask 077; {' && '.join(commands)}", tmp_path)
    assert (written.returncode, written.stderr) == (0, "")
    password = tmp_path / "deploy" / STATED["secrets"]["password"]["file"]
    assert re.fullmatch("[A-Za-z0-9]{20,32}", password.read_text())
    assert password.stat().st_mode & 0o777 == 0o644
    assert password.parent.stat().st_mode & 0o777 == 0o700
    ignored = (DEPLOY.parent / ".gitignore").read_text(encoding="utf-8").split()
    assert f"{password.parent.relative_to(tmp_path)}/" in ignored


def test_a_service_begins_with_the_password_and_not_without(tmp_path: Path) -> None:
    (command,) = STATED["services"]["service"]["command"]
    run = command.replace("$$", "$").replace("pacsklearn service run", "env")
    run = run.replace("/run/secrets/password", "password")
    assert shell(run, tmp_path).returncode != 0
    (tmp_path / "password").write_text("se-cret")
    begun = shell(run, tmp_path)
    assert "PACSKLEARN_SERVICE_DATABASE=postgresql://pacsklearn:se-cret@database/" in begun.stdout
    assert "PACSKLEARN_SERVICE_WORKERS=2" in begun.stdout
