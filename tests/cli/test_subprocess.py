"""The real thing: a fresh interpreter, exit codes, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*words, cwd, code=0, prelude=""):
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = f"{prelude}\nfrom pacsklearn.cli.__main__ import main\nmain()"
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


@pytest.mark.soak
def test_release_and_audit(folder):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    done = run(*release, "--subsets", 16, "--output", "m.joblib", cwd=folder)
    assert "guarantee: proved" in done.stdout
    assert "elapsed" not in done.stdout  # progress goes to standard error
    audit = ("audit", "rows.csv", "m.statement.json", "--attacks", "identification")
    done = run(*audit, "--trials", 20, "--json", cwd=folder)
    assert json.loads(done.stdout)["passed"] is True


def test_bad_usage_has_its_own_code(folder):
    done = run("release", cwd=folder, code=2)
    assert "Missing" in done.stderr


def test_without_typer_the_extra_is_named(folder):
    prelude = "import sys; sys.modules['typer'] = None"
    done = run("plugins", cwd=folder, code=2, prelude=prelude)
    assert 'pip install ".[cli]"' in done.stderr


# Tables and models: a second and more of processor time before the first word is printed.
HEAVY = {"sklearn", "pandas", "joblib", "matplotlib", "numba", "opendp", "psycopg", "pluggy"}


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], HEAVY | {"numpy", "scipy"}),
        (["release", "--help"], HEAVY | {"numpy", "scipy"}),
        (["--version"], HEAVY | {"numpy", "scipy"}),
        (["budget", "--nats", "1/16", "--json"], HEAVY),
    ],
)
def test_what_needs_no_model_loads_none(words, heavy, tmp_path):
    prelude = (
        "import atexit, sys\n"
        "from pathlib import Path\n"
        "atexit.register(lambda: Path('loaded').write_text('\\n'.join(sys.modules)))"
    )
    assert run(*words, cwd=tmp_path, prelude=prelude).stdout
    loaded = set((tmp_path / "loaded").read_text().splitlines())
    assert "typer" in loaded
    assert not loaded & heavy


def test_without_pandas_the_extra_is_named(folder):
    prelude = "import sys; sys.modules['pandas'] = None"
    release = ("release", "rows.csv", "--estimator", "Ridge", "--output", "m.joblib")
    done = run(*release, cwd=folder, code=2, prelude=prelude)
    assert 'pip install ".[cli]"' in done.stderr


# A process that a shell began in the background ignores Ctrl-C.
SIGNAL = (
    "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "def interrupt(*_): os.kill(os.getpid(), signal.SIGINT)\n"
)


def test_ctrl_c_in_a_command_is_one_line(tmp_path, monkeypatch):
    prelude = (
        f"{SIGNAL}import pacsklearn.kernel.bounds.dp_equivalent as room; "
        "room.dp_epsilon = interrupt"
    )
    asked = ("budget", "--nats", "1/16")
    done = run(*asked, cwd=tmp_path, code=130, prelude=prelude)
    assert done.stderr.startswith("Interrupted.")
    assert len(done.stderr.splitlines()) == 1
    monkeypatch.setenv("PACSKLEARN_TRACEBACK", "1")
    done = run(*asked, "--json", cwd=tmp_path, code=130, prelude=prelude)
    assert json.loads(done.stdout)["exit_code"] == 130


def test_ctrl_c_while_modules_are_loaded_is_one_line(tmp_path):
    prelude = (
        f"{SIGNAL}class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': interrupt()\n"
        "sys.meta_path.insert(0, Slow())"
    )
    done = run("--help", cwd=tmp_path, code=130, prelude=prelude)
    assert done.stderr == "Interrupted.\n"


def test_ctrl_c_while_the_interpreter_ends_prints_nothing(tmp_path):
    prelude = f"{SIGNAL}import atexit; atexit.register(interrupt)"
    done = run("--version", cwd=tmp_path, code=-2, prelude=prelude)
    assert done.stderr == ""


def test_nothing_is_loaded_before_interrupts_are_caught(tmp_path):
    """Ctrl-C in the tenth of a second before ``main`` runs would show a traceback."""
    command = (
        "import sys; before = set(sys.modules); from pacsklearn.cli.__main__ import main\n"
        "print(sorted(set(sys.modules) - before - {'__future__'}))"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-S", "-c", command],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    ours = ("", "._public", ".cli", ".cli.__main__", ".kernel")
    names = [f"pacsklearn{name}" for name in ours]
    assert done.stdout.strip() == str(names)
