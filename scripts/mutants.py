"""Share of small faults that the tests notice: a sample of mutants, room by room.

    python scripts/mutants.py [--rooms kernel/noise ...] [--sample 40] [--seed 0] [--minutes 20]
    python scripts/mutants.py --again "pacsklearn/kernel/noise/lattice.py:40 core/AddNot 3" ...
                              [--tests tests/kernel/noise/test_lattice.py ...]

Works on copies of the tree, one for each of ``--jobs``, and checks that the tests import the copy
and pass there before anything is mutated: a test that fails by itself would kill every mutant.
That run also notes which tests run which lines. Each mutant gets a fork of a process that has
loaded the libraries but nothing of pacsklearn, and runs tests until one fails: those that ran its
statement, the short ones first, and of those the ones that mirror its file. A statement that no
test was seen to run (it runs in another process, or is compiled) or that runs when its module is
loaded gets all tests of its room. Rooms take turns, so that a run cut short has seen all of them.
What survives is listed with its place and its change, to be killed by a test or explained;
``--again`` tries mutants once more by the place that was printed; it refuses one whose line has
moved. With ``--tests`` only these files are run, which takes seconds where a room takes minutes:
it says whether a new test kills what it was written for. cosmic-ray makes the mutants.

Left out, because no run of the program can differ by more than its speed or its wording:
annotations, which are never evaluated; the bare star of a signature; methods without a body, as
protocols have them; what stands under ``TYPE_CHECKING``; the text of a message that is raised or
warned; decorators that compile, remember or mark (``NEUTRAL``) with their arguments; and changes
after which it is not Python.
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
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from types import EllipsisType
from typing import Any

import pytest
from cosmic_ray.commands.init import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec
from reached_tests import TESTS, Chosen, ReachedTests, files, first_line, room_of
from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parent.parent
# Loaded once: a mutant's tests then begin within a moment. Nothing here may import pacsklearn.
LIBRARIES = [
    "joblib", "numba", "pandas", "pluggy", "sklearn.cluster", "sklearn.datasets",
    "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline",
    "sklearn.preprocessing", "sklearn.svm",
]  # fmt: skip
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Decorators without which a function gives the same values: compiled, remembered, or only marked.
NEUTRAL = {
    "njit",
    "compiled",
    "final",
    "cache",
    "lru_cache",
    "overload",
    "override",
    "abstractmethod",
}
# Ends of pytest; the last is ours.
PASSED, FAILED, NOT_RUN, OTHER_TREE = 0, (1, 2, 4), 255, 100


@dataclass
class Task:
    """Tests to run on a tree, unchanged or with one mutation; and what came of it."""

    room: str
    tests: list[list[str]]
    timeout: float
    mutation: MutationSpec | None = None
    change: str = ""
    killer: str = ""
    status: int = NOT_RUN
    seconds: float = 0.0

    @property
    def place(self) -> str:
        assert self.mutation is not None
        at = self.mutation
        return f"{at.module_path}:{at.start_pos[0]} {at.operator_name} {at.occurrence}"


def main() -> int:
    """Mutate, test, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", nargs="+", choices=[*TESTS], default=[*TESTS])
    parser.add_argument("--sample", type=int, default=40, help="mutants a room; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no mutant after them")
    parser.add_argument("--again", nargs="+", default=[], help="these, as they were printed")
    parser.add_argument("--tests", nargs="+", help="run these files, not all of the room's")
    arguments = parser.parse_args()
    if os.environ.keys().isdisjoint(ONE_THREAD):  # read once, when numpy is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    end = time.monotonic() + 60 * arguments.minutes
    for name in LIBRARIES:
        importlib.import_module(name)
    assert "pacsklearn" not in sys.modules, "mutants would run with the package as it is"
    again: dict[str, list[str]] = defaultdict(list)
    for place in arguments.again:
        again[room_of(Path(place))].append(place)
    rooms = [*again] or arguments.rooms
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # tests that give up being root still read it
        copies = [copied(Path(folder) / str(job)) for job in range(arguments.jobs)]
        os.chdir(copies[0])
        samples = [
            named(mutants(room), again[room])
            if again
            else sampled(mutants(room), arguments.sample, f"{room} {arguments.seed}")
            for room in rooms
        ]
        reached = {}
        unchanged = (Task(room, [arguments.tests or files(room)], 3600) for room in rooms)
        for task in done(unchanged, copies):
            if task.status != PASSED:
                raise SystemExit(
                    f"{task.killer or task.tests} ends with {task.status} unchanged: mend it first"
                )
            print(f"{task.room}: tests take {task.seconds:.0f} s", flush=True)
            reached[task.room] = ReachedTests.read(copies, task.room)
        killed: dict[str, list[bool]] = defaultdict(list)
        in_turn = (
            Task(room, *reached[room].nearest(mutation), mutation)
            for mutation in filter(None, chain.from_iterable(zip_longest(*samples)))
            if time.monotonic() < end and (room := room_of(mutation.module_path))
        )
        for task in done(in_turn, copies):
            if task.status not in (PASSED, *FAILED):
                raise SystemExit(f"{task.place} was not tried: pytest ends with {task.status}")
            killed[task.room].append(task.status != PASSED)
            word = f"killed by {task.killer}:" if killed[task.room][-1] else "SURVIVED"
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
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for part in ("pacsklearn", "tests"):
        shutil.copytree(ROOT / part, copy / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    # Tests of mutants write no bytecode; without this each of them would compile the package.
    compileall.compile_dir(copy / "pacsklearn", quiet=1)
    return copy


def sampled(mutations: list[MutationSpec], size: int, seed: str) -> list[MutationSpec]:
    """Draw mutants without replacement; the same seed draws the same ones."""
    random.Random(seed).shuffle(mutations)
    return list(islice(filter(is_fault, mutations), size or None))


def named(mutations: list[MutationSpec], places: list[str]) -> list[MutationSpec]:
    """Return the mutants that were printed as these places."""
    printed = {Task("", [], 0, mutation).place: mutation for mutation in mutations}
    if gone := [place for place in places if place not in printed]:
        raise SystemExit(f"no such mutants, their lines may have moved: {gone}")
    return [printed[place] for place in places]


def mutants(room: str) -> list[MutationSpec]:
    """Return all mutants of a room, in an order that is the same on every disk."""
    with use_db(":memory:", WorkDB.Mode.create) as database:
        init(find_modules([Path("pacsklearn") / room]), database, {})
        found = [mutation for item in database.work_items for mutation in item.mutations]
    return sorted(
        found, key=lambda each: (str(each.module_path), each.operator_name, each.occurrence)
    )


def is_fault(mutation: MutationSpec) -> bool:
    """Whether a mutant could be noticed: it is Python, and changes what is run."""
    source = mutation.module_path.read_text()
    if any(
        (node.lineno, node.col_offset)
        <= mutation.start_pos
        < (node.end_lineno, node.end_col_offset)
        for node in unnoticed(ast.parse(source))
    ):
        return False
    line, column = mutation.start_pos
    if source.splitlines()[line - 1].startswith("*,", column):
        return False
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    code = mutate_code(source, operator, mutation.occurrence)
    try:
        with warnings.catch_warnings(action="error"):  # as pytest has it: "x is 0" is none
            compile(code, "", "exec")
    except SyntaxError:
        return False
    return True


def unnoticed(tree: ast.AST) -> Iterator[Any]:
    """Parts of a file in which no change can be noticed."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as part) | ast.AnnAssign(annotation=part):
                yield part
            case ast.FunctionDef(body=[ast.Expr(ast.Constant(value=EllipsisType()))]):
                node.lineno = first_line(node)
                node.col_offset = 0
                yield node
            case ast.FunctionDef() | ast.ClassDef():
                if isinstance(node, ast.FunctionDef) and node.returns is not None:
                    yield node.returns
                for part in node.decorator_list:
                    if NEUTRAL & {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}:
                        part.col_offset -= 1  # the sign before it belongs to it
                        yield part
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield node
            case ast.Raise() | ast.Call(func=ast.Name(id="warn_user")):
                yield from (part for part in ast.walk(node) if isinstance(part, ast.JoinedStr))


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
            killer = copy.parent / "killer"
            task.killer = killer.read_text() if killer.exists() else "a failed import, or time"
            killer.unlink(missing_ok=True)
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
        mutated = task.mutation and (copy / task.mutation.module_path).read_text()
        if mutated and "@compiled(" in mutated:
            # Its cache knows the file of a kernel, and not the files of what the kernel calls.
            kernels = Path(tempfile.mkdtemp(dir=copy.parent))
        os.environ.update(
            PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1", NUMBA_CACHE_DIR=str(kernels)
        )
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        for tests in task.tests[:-1]:
            # A process of its own: what pytest has loaded it does not load anew.
            first = os.fork()
            if not first:
                task.tests = [tests]
                break
            status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
            if status != PASSED:
                os._exit(status if status >= 0 else FAILED[0])
        status = tested(task, copy)
    finally:
        os._exit(status)


def tested(task: Task, copy: Path) -> int:
    """Run the last group of tests of a task in this process; how pytest ended."""
    tests = task.tests[-1]
    plugins: list[object] = [Chosen(tests, copy.parent / "killer")]
    if task.mutation is None:
        plugins.append(ReachedTests(task.room))
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    # A mutant may fail while it is imported; pytest then counts it as an error of collection.
    status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files], plugins))
    package = sys.modules.get("pacsklearn")
    if status == PASSED and copy not in Path(str(getattr(package, "__file__", ""))).parents:
        return OTHER_TREE
    if status == PASSED and task.mutation is None:
        plugins[-1].write(copy)
    return status


def share(outcomes: list[bool]) -> str:
    """Return the share killed in words, with Wilson's interval at 95 %."""
    found = binomtest(sum(outcomes), len(outcomes))
    interval = found.proportion_ci(0.95, method="wilson")
    return (
        f"{found.k} of {found.n} mutants killed ({100 * found.statistic:.0f} %; "
        f"95 % interval {100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
    )


if __name__ == "__main__":
    raise SystemExit(main())
