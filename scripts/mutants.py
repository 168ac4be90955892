"""Share of small faults that the tests notice: a sample of mutants, room by room.

    python scripts/mutants.py [--rooms release noise] [--sample 40] [--seed 0] [--minutes 20]

Works on copies of the tree, one for each of ``--jobs``, and checks that the tests import the copy
and pass there before anything is mutated: a test that fails by itself would kill every mutant.
Each mutant gets a fork of a process that has loaded the libraries but nothing of pacsklearn, and
runs the tests of its room until one fails: those that mirror its file, then those that name it,
then the rest and those that drive the mechanism as a whole. Rooms take turns, so that a run cut
short has seen all of them. What survives is listed with its place and its change, to be killed by
a test or explained. cosmic-ray makes the mutants.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import difflib
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path

import pytest
from cosmic_ray.commands.init import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec
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
# Loaded once: a mutant's tests then begin within a moment. Nothing here may import pacsklearn.
LIBRARIES = [
    "joblib", "numba", "pandas", "pluggy", "sklearn.cluster", "sklearn.datasets",
    "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline",
    "sklearn.preprocessing", "sklearn.svm", "sqlalchemy",
]  # fmt: skip
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Ends of pytest; the last is ours.
PASSED, FAILED, NOT_RUN, OTHER_TREE = 0, (1, 2), 255, 100


@dataclass
class Task:
    """Tests to run on a tree, unchanged or with one mutation; and what came of it."""

    room: str
    tests: list[str]
    timeout: float
    mutation: MutationSpec | None = None
    change: str = ""
    status: int = NOT_RUN
    seconds: float = 0.0

    @property
    def place(self) -> str:
        assert self.mutation is not None
        at = self.mutation
        return f"{at.module_path}:{at.start_pos[0]} {at.operator_name}"


def main() -> int:
    """Mutate, test, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", nargs="+", choices=[*TESTS], default=[*TESTS])
    parser.add_argument("--sample", type=int, default=40, help="mutants a room; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no mutant after these")
    arguments = parser.parse_args()
    if os.environ.keys().isdisjoint(ONE_THREAD):  # read once, when numpy is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    end = time.monotonic() + 60 * arguments.minutes
    for name in LIBRARIES:
        importlib.import_module(name)
    assert "pacsklearn" not in sys.modules, "mutants would run with the package as it is"
    with tempfile.TemporaryDirectory() as folder:
        copies = [copied(Path(folder) / str(job)) for job in range(arguments.jobs)]
        os.chdir(copies[0])
        allowed = {}
        for task in done((Task(room, nearest(room), 3600) for room in arguments.rooms), copies):
            if task.status != PASSED:
                raise SystemExit(f"{task.tests} end with {task.status} unchanged: mend them first")
            print(f"{task.room}: tests take {task.seconds:.0f} s", flush=True)
            allowed[task.room] = max(60.0, 5 * task.seconds)
        samples = [sampled(room, arguments.sample, arguments.seed) for room in arguments.rooms]
        killed: dict[str, list[bool]] = defaultdict(list)
        in_turn = (
            Task(room, nearest(room, mutation.module_path), allowed[room], mutation)
            for mutation in filter(None, chain.from_iterable(zip_longest(*samples)))
            if time.monotonic() < end and (room := mutation.module_path.parts[1])
        )
        for task in done(in_turn, copies):
            if task.status not in (PASSED, *FAILED):
                raise SystemExit(f"{task.place} was not tried: pytest ends with {task.status}")
            killed[task.room].append(task.status != PASSED)
            word = "killed" if killed[task.room][-1] else "SURVIVED"
            print(f"{word} {task.place} ({task.seconds:.0f} s)", flush=True)
            if task.status == PASSED:
                print(task.change, flush=True)
    for room, outcomes in killed.items():
        print(f"{room}: {share(outcomes)}")
    every = list(chain.from_iterable(killed.values()))
    print(f"together: {share(every)}")
    return 0 if sum(every) >= 0.9 * len(every) else 1


def copied(folder: Path) -> Path:
    """Copy the tree, with the public data where its tests look for them."""
    copy = folder / "tree"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "docs", "plugins")
    shutil.copytree(ROOT, copy, ignore=ignored)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    # Tests of mutants write no bytecode; without this each of them would compile the package.
    compileall.compile_dir(copy / "pacsklearn", quiet=1)
    return copy


def nearest(room: str, path: Path | None = None) -> list[str]:
    """Files with the tests of a room; those that name a file of it first, its mirror before."""
    places = [Path(name) for name in TESTS[room]]
    missing = [str(place) for place in places if not place.exists()]
    if missing:
        raise SystemExit(f"no such tests: {missing}; correct TESTS in {__file__}")
    files = list(
        chain.from_iterable(
            sorted(place.rglob("test_*.py")) if place.is_dir() else [place] for place in places
        )
    )
    if path is not None:
        mirror = Path("tests", *path.parts[1:-1], f"test_{path.name}")
        name = ".".join(path.with_suffix("").parts)
        files.sort(key=lambda file: 0 if file == mirror else 1 if name in file.read_text() else 2)
    return [str(file) for file in files]


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


def done(tasks: Iterable[Task], copies: list[Path]) -> Iterator[Task]:
    """Run the tasks, one at a time on each copy, and give each back when it has ended."""
    waiting, running = iter(tasks), dict[int, tuple[Task, Path, Callable[[], None], float]]()
    free = list(copies)
    while True:
        while free and (task := next(waiting, None)) is not None:
            copy = free.pop()
            restore = mutated(task, copy)
            running[child(task, copy)] = (task, copy, restore, time.monotonic())
        if not running:
            return
        for pid, (task, copy, restore, start) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            task.seconds = time.monotonic() - start
            if not ended and task.seconds < task.timeout:
                continue
            # Whatever the tests began ends with them.
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            if not ended:
                os.waitpid(pid, 0)
            # A mutant that runs for ever, or takes its process along, was noticed.
            task.status = os.WEXITSTATUS(status) if ended and os.WIFEXITED(status) else FAILED[0]
            restore()
            free.append(copy)
            del running[pid]
            yield task
        time.sleep(0.05)


def mutated(task: Task, copy: Path) -> Callable[[], None]:
    """Change the file on the copy; returns what changes it back."""
    if task.mutation is None:
        return lambda: None
    path = copy / task.mutation.module_path
    before = path.read_text()
    operator = get_operator(task.mutation.operator_name)(**task.mutation.operator_args)
    after = mutate_code(before, operator, task.mutation.occurrence)
    lines = (text.splitlines() for text in (before, after))
    task.change = "\n".join(difflib.unified_diff(*lines, lineterm="", n=2))
    then = path.stat().st_mtime

    # Bytecode and compiled kernels are those of the time at which their file was written.
    def write(text: str, when: float) -> None:
        path.write_text(text)
        os.utime(path, (when, when))

    write(after, then + 2)
    return partial(write, before, then)


def child(task: Task, copy: Path) -> int:
    """Fork a process that runs the tests of a task on a copy; returns its number."""
    pid = os.fork()
    if pid:
        return pid
    status = NOT_RUN
    try:
        os.setsid()
        os.chdir(copy)
        # The first run on a copy leaves what its tests were compiled to.
        sys.dont_write_bytecode = task.mutation is not None
        sys.path.insert(0, str(copy))
        kernels = copy.parent / "kernels"
        if task.mutation is not None and "numba" in (copy / task.mutation.module_path).read_text():
            # Its cache knows the file of a kernel, and not the files of what the kernel calls.
            kernels = Path(tempfile.mkdtemp(dir=copy.parent))
        os.environ.update(
            PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1", NUMBA_CACHE_DIR=str(kernels)
        )
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        # A mutant may fail while it is imported; pytest then counts it as an error of collection.
        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *task.tests]))
        package = sys.modules.get("pacsklearn")
        if status == PASSED and copy not in Path(str(getattr(package, "__file__", ""))).parents:
            status = OTHER_TREE
    finally:
        os._exit(status)


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
