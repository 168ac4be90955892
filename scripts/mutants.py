"""Share of small faults that the tests notice: a sample of mutants, room by room.

    python scripts/mutants.py [--rooms release noise] [--sample 40] [--seed 0] [--minutes 20]

Works on a copy of the tree, and checks that the tests import the copy and pass there before
anything is mutated: a test that fails by itself would kill every mutant. Each mutant runs the tests
that mirror its file, then the other tests of its room and those that drive the mechanism as a
whole. Rooms take turns, so that a run cut short has seen all of them. What survives is listed with
its place and its change, to be killed by a test or explained. cosmic-ray makes the mutants.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import chain, islice, zip_longest
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome
from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "release": [
        "tests/release",
        "tests/session/test_privacy_session.py",
        "tests/session/test_criterion_session.py",
    ],
    "responses": ["tests/responses", "tests/testing/test_label_oracle.py"],
    "noise": ["tests/noise", "tests/statistical/test_confident_certificate.py"],
    "pufferfish": [
        "tests/pufferfish",
        "tests/estimators/test_srpp_private.py",
        "tests/estimators/srpp_sgd",
    ],
    "core": ["tests/core"],
    "information": ["tests/information"],
}


def main() -> int:
    """Mutate, test, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", nargs="+", choices=[*TESTS], default=[*TESTS])
    parser.add_argument("--sample", type=int, default=40, help="mutants a room; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one mutant")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no mutant after these")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        os.chdir(copy)
        for room in arguments.rooms:
            check(copy, TESTS[room])
        samples = [sampled(room, arguments.sample, arguments.seed) for room in arguments.rooms]
        killed: dict[str, list[bool]] = defaultdict(list)
        for mutation in filter(None, chain.from_iterable(zip_longest(*samples))):
            if time.monotonic() > end:
                break
            room = mutation.module_path.parts[1]
            died, change = tried(mutation, TESTS[room], arguments.timeout)
            killed[room].append(died)
            place = f"{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name}"
            print(f"{'killed' if died else 'SURVIVED'} {place}", flush=True)
            if not died:
                print(change, flush=True)
    for room, outcomes in killed.items():
        print(f"{room}: {share(outcomes)}")
    every = list(chain.from_iterable(killed.values()))
    print(f"together: {share(every)}")
    return 0 if sum(every) >= 0.9 * len(every) else 1


def copied(folder: Path) -> Path:
    """Copy the tree, with the public data where its tests look for them."""
    copy = folder / "tree"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "docs")
    shutil.copytree(ROOT, copy, ignore=ignored)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    # Tests of mutants write no bytecode; without this each of them would compile the package.
    compileall.compile_dir(copy / "pacsklearn", quiet=1)
    os.environ.update(PYTHONPATH=str(copy), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return copy


def check(copy: Path, tests: list[str]) -> None:
    """Raise unless the tests exist, import the copy, and pass on it unchanged."""
    missing = [part for part in tests if not (copy / part).exists()]
    if missing:
        raise SystemExit(f"no such tests: {missing}; correct TESTS in {__file__}")
    asked = [sys.executable, "-c", "import pacsklearn; print(pacsklearn.__file__)"]
    found = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    if copy not in Path(found).parents:
        raise SystemExit(f"the tests would import {found}, which is not the copy in {copy}")
    if subprocess.run(pytest(*tests), check=False).returncode:
        raise SystemExit(f"the tests {tests} fail without a mutant: repair them first")


def sampled(room: str, size: int, seed: int) -> list[MutationSpec]:
    """Draw mutants of a room without replacement; the same seed draws the same ones."""
    with use_db(":memory:", WorkDB.Mode.create) as database:
        init(find_modules([Path("pacsklearn") / room]), database, {})
        mutations = [mutation for item in database.work_items for mutation in item.mutations]
    # Files come in the order of the disk; a seed must name the same mutants everywhere.
    mutations.sort(key=lambda each: (str(each.module_path), each.operator_name, each.occurrence))
    random.Random(f"{room} {seed}").shuffle(mutations)
    return list(islice(filter(is_fault, mutations), size or None))


def is_fault(mutation: MutationSpec) -> bool:
    """Whether a mutant could be noticed: it is Python, and not only another annotation."""
    # Annotations are never evaluated, so a union in them may become a sum.
    if "BitOr" in mutation.operator_name:
        return False
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    code = mutate_code(mutation.module_path.read_text(), operator, mutation.occurrence)
    try:
        # The bare star of a signature counts as a product; what comes of it is not Python.
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def tried(mutation: MutationSpec, tests: list[str], timeout: float) -> tuple[bool, str]:
    """Whether the tests notice a mutant, its own first; and its change."""
    path = mutation.module_path
    mirror = Path("tests", *path.parts[1:-1], f"test_{path.name}")
    runs = [[str(mirror)]] if mirror.exists() else []
    for run in [*runs, [*tests, f"--ignore={mirror}"]]:
        result = mutate_and_test([mutation], " ".join(pytest(*run)), timeout)
        if result.test_outcome not in (TestOutcome.KILLED, TestOutcome.SURVIVED):
            raise SystemExit(f"{mutation} was not tried: {result.output}")
        if result.test_outcome is TestOutcome.KILLED:
            return True, result.diff or ""
    return False, result.diff or ""


def pytest(*tests: str) -> list[str]:
    """Return the command that runs tests until one fails."""
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]


def share(outcomes: list[bool]) -> str:
    """Return the share killed in words, with its exact interval at 95 %."""
    found = binomtest(sum(outcomes), len(outcomes))
    interval = found.proportion_ci(0.95, method="exact")
    return (
        f"{found.k} of {found.n} mutants killed ({100 * found.statistic:.0f} %; "
        f"95 % interval {100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
    )


if __name__ == "__main__":
    raise SystemExit(main())
