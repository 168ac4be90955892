"""Share of small faults that the tests notice: a sample of mutants, room by room.

    python scripts/mutants.py [--rooms release noise] [--sample 40] [--seed 0]

Works on a copy of the tree. Each mutant runs the tests of its own room, those that drive the
mechanism as a whole, and nothing else; what survives is listed with its place, to be killed by a
test or explained. cosmic-ray makes the mutants.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "information": "tests/information",
    "core": "tests/core",
    "noise": "tests/noise tests/statistical/test_certificates.py",
    "release": "tests/release tests/session/test_privacy_session.py",
    "responses": "tests/responses tests/testing/test_label_oracle.py",
    "pufferfish": "tests/pufferfish tests/estimators/test_srpp_private.py",
}
CONFIG = """[cosmic-ray]
module-path = "pacsklearn/{room}"
timeout = {timeout}
excluded-modules = []
test-command = "{python} -m pytest -x -q -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    """Mutate, test, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", nargs="+", choices=[*TESTS], default=[*TESTS])
    parser.add_argument("--sample", type=int, default=40, help="mutants a room; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300)
    arguments = parser.parse_args()
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "docs")
        shutil.copytree(ROOT, copy, ignore=ignored)
        for room in arguments.rooms:
            killed, survivors = mutate(copy, room, arguments)
            total = killed + len(survivors)
            share = killed / total if total else 1.0
            worst = min(worst, share)
            print(f"{room}: {killed} of {total} mutants killed ({100 * share:.0f} %)", flush=True)
            for line in survivors:
                print(f"  survived {line}", flush=True)
    return 0 if worst >= 0.9 else 1


def mutate(copy: Path, room: str, arguments: argparse.Namespace) -> tuple[int, list[str]]:
    """Run a sample of the mutants of a room; the number killed, and the places of the others."""
    known = " ".join(part for part in TESTS[room].split() if (copy / part).exists())
    config, session = copy / "mutants.toml", copy / f"{room}.sqlite"
    config.write_text(
        CONFIG.format(room=room, timeout=arguments.timeout, python=sys.executable, tests=known)
    )
    run = [sys.executable, "-m", "cosmic_ray.cli"]
    environment = {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    options = {"cwd": copy, "env": {**os.environ, **environment}}
    subprocess.run([*run, "init", config.name, session.name], check=True, **options)
    with sqlite3.connect(session) as database:
        # Annotations are never evaluated, so a union in them that becomes a sum is no fault.
        listed = "select job_id from mutation_specs where operator_name not like '%BitOr%'"
        jobs = [job for (job,) in database.execute(f"{listed} order by job_id")]
        if arguments.sample:
            kept = random.Random(arguments.seed).sample(jobs, min(arguments.sample, len(jobs)))
            every = {job for (job,) in database.execute("select job_id from mutation_specs")}
            for job in every - set(kept):
                database.execute("delete from mutation_specs where job_id = ?", (job,))
                database.execute("delete from work_items where job_id = ?", (job,))
    subprocess.run([*run, "exec", config.name, session.name], check=True, **options)
    with sqlite3.connect(session) as database:
        found = database.execute(
            "select r.test_outcome, m.module_path, m.start_pos_row, m.operator_name "
            "from work_results r join mutation_specs m on r.job_id = m.job_id"
        ).fetchall()
    survivors = [
        f"{path}:{row} {operator}"
        for outcome, path, row, operator in found
        if outcome == "SURVIVED"
    ]
    return len(found) - len(survivors), survivors


if __name__ == "__main__":
    raise SystemExit(main())
