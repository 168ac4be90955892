"""The real thing: a fresh interpreter, exit codes, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*words, cwd, code=0, prelude=""):
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = f"{prelude}\nfrom pacsklearn.cli import main\nmain()"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", command, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def test_release_audit_report(folder):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    done = run(*release, "--subsets", 16, "--output", "m.joblib", cwd=folder)
    assert "guarantee: proved" in done.stdout
    assert "fitting candidate subsets" not in done.stdout  # progress goes to standard error
    done = run("audit", "rows.csv", "m.statement.json", "--trials", 50, "--json", cwd=folder)
    assert json.loads(done.stdout)["passed"] is True
    run("report", "m.statement.json", "--output", "r.html", cwd=folder)
    assert (folder / "r.html").stat().st_size < 2_000_000


def test_a_leaking_plugin_is_found_out(folder):
    """A noise backend that scales its noise by 0.05; the exit code says so."""
    prelude = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pacsklearn import NoiseBackendRecord, register\n"
        "from tests.audit.broken import TooQuiet\n"
        "register(NoiseBackendRecord('quiet', TooQuiet))"
    )
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--noise")
    run(
        *release, "quiet", "--subsets", 16, "--output", "m.joblib", "--json", cwd=folder,
        prelude=prelude,
    )  # fmt: skip
    done = run(
        "audit", "rows.csv", "m.statement.json", "--attacks", "optimal_membership", "--trials",
        300, cwd=folder, code=1, prelude=prelude,
    )  # fmt: skip
    assert "VIOLATED" in done.stdout


def test_bad_usage_has_its_own_code(folder):
    done = run("release", cwd=folder, code=2)
    assert "Missing" in done.stderr


def test_without_typer_the_extra_is_named(folder):
    prelude = "import sys; sys.modules['typer'] = None"
    done = run("plugins", cwd=folder, code=2, prelude=prelude)
    assert 'pip install "pacsklearn[cli]"' in done.stderr
