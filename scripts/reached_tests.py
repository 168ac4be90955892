"""Tests of a room, and which of them run which lines of it."""

from __future__ import annotations

import _thread
import ast
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import coverage
import pytest
from cosmic_ray.work_item import MutationSpec

TESTS = {
    "kernel/bounds": ["tests/kernel/bounds", "tests/kernel/noise/test_lattice.py"],
    "kernel/secret": [
        "tests/kernel/test_secret_space.py",
        "tests/kernel/test_candidate_space.py",
        "tests/kernel/test_owner_process.py",
        "tests/kernel/test_secret_rows.py",
        "tests/universe/test_balanced_design.py",
        "tests/kernel/test_stated_secret.py",
        "tests/kernel/test_guarantee.py",
    ],
    "kernel/budget": [
        "tests/kernel/budget",
        "tests/kernel/test_criteria.py",
        "tests/kernel/bounds/test_known_rows.py",
    ],
    "kernel/outputs": [
        "tests/kernel/outputs",
        "tests/kernel/test_canonicalizer.py",
        "tests/kernel/test_metric.py",
        "tests/kernel/test_operator_metric.py",
        "tests/canonical/test_protecting_metric.py",
        "tests/test_fit_report.py",
        "tests/kernel/release/test_function.py",
        "tests/kernel/test_withheld.py",
        "tests/kernel/test_public_prior.py",
    ],
    "kernel/noise": [
        "tests/kernel/noise",
        "tests/statistical/test_confident_certificate.py",
        "tests/kernel/test_noise_law.py",
        "tests/kernel/test_joint_law.py",
        "tests/kernel/test_one_sided_law.py",
        "tests/kernel/test_sampled_law.py",
    ],
    "kernel/release": [
        "tests/kernel/release",
        "tests/estimators/session/test_privacy_session.py",
        "tests/estimators/session/test_criterion_session.py",
        "tests/kernel/test_curator_figure.py",
    ],
    "kernel/answers": ["tests/kernel/answers"],
    "kernel/ledger": [
        "tests/kernel/ledger",
        "tests/testing/test_ledger_check.py",
        "tests/kernel/test_accounts.py",
        "tests/kernel/test_event.py",
        "tests/kernel/test_ledger.py",
        "tests/kernel/test_replacement_file.py",
    ],
    "kernel/guarantee": [
        "tests/kernel/test_guarantee.py",
        "tests/kernel/test_model_digest.py",
        "tests/kernel/test_guarantee_kinds.py",
        "tests/kernel/test_statement_rendering.py",
        "tests/kernel/test_public_path.py",
    ],
    "srpp/release": [
        "tests/srpp/release",
        "tests/srpp/test_messy_tables.py",
        "tests/estimators/test_srpp_private.py",
        "tests/srpp/descent",
    ],
}


def files(room: str) -> list[str]:
    """Files with the tests of a room."""
    places = [Path(name) for name in TESTS[room]]
    missing = [str(place) for place in places if not place.exists()]
    if missing:
        raise SystemExit(f"no such tests: {missing}; correct TESTS in {__file__}")
    places += [Path("tests/test_value_classes.py"), Path("tests/test_defaults.py")]
    found = (sorted(place.rglob("test_*.py")) if place.is_dir() else [place] for place in places)
    return [str(file) for file in chain.from_iterable(found)]


def room_of(path: Path) -> str:
    """Room that a file of the package stands in."""
    return next(room for room in TESTS if path.is_relative_to(Path("pacsklearn") / room))


class ReachedTests:
    """The tests of a room on the tree as it is: how long each took, and what lines it ran."""

    def __init__(self, room: str) -> None:
        self._room = room
        self._lines = coverage.Coverage(
            data_file=None, config_file=False, include=[f"pacsklearn/{room}/*"]
        )
        self.seconds: Counter[str] = Counter()
        self.tests: dict[str, dict[int, list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        start = _thread.start_new_thread

        # Coverage sees the threads of `threading` alone; the ledger's are none of these.
        def traced(work: Callable[..., object], values: tuple[object, ...]) -> int:
            def run() -> None:
                sys.settrace(threading.gettrace())
                work(*values)

            return start(run, ())

        self._lines.start()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_thread, "start_new_thread", traced)
                return (yield)
        finally:
            self._lines.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.monotonic()
        self._lines.switch_context(named(item))
        try:
            return (yield)
        finally:
            self.seconds[named(item)] += time.monotonic() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        # What is set up for several tests is run for all of the file, not only for the first.
        item = request._pyfuncitem
        shared = fixturedef.scope != "function"
        self._lines.switch_context(item.nodeid.partition("::")[0] if shared else named(item))
        try:
            return (yield)
        finally:
            self._lines.switch_context(named(item))

    def write(self, copy: Path) -> None:
        data = self._lines.get_data()
        lines = {
            str(Path(file).relative_to(copy)): data.contexts_by_lineno(file)
            for file in data.measured_files()
        }
        _written(copy, self._room).write_text(json.dumps([self.seconds, lines]))

    @classmethod
    def read(cls, copies: list[Path], room: str) -> ReachedTests:
        """Return what was written on the copy on which the tests of the room were run."""
        read = cls(room)
        (written,) = (path for copy in copies if (path := _written(copy, room)).exists())
        seconds, lines = json.loads(written.read_text())
        read.seconds.update(seconds)
        read.tests = {
            file: {int(line): tests for line, tests in of_file.items()}
            for file, of_file in lines.items()
        }
        return read

    def nearest(self, mutation: MutationSpec) -> tuple[list[list[str]], float]:
        """Tests that may notice a mutation, and seconds after which it runs for ever.

        They are in two groups: those that mirror its file first.
        """
        path = mutation.module_path
        lines = run_lines(ast.parse(path.read_text()), mutation.start_pos[0])
        ran = self.tests.get(str(path), {})
        contexts = {context for line in lines for context in ran.get(line, ())}
        names = {
            test for test in self.seconds if {test, test.partition("::")[0]} & contexts
        } or set(self.seconds)
        # Tests of about the same length stay together, so that a file's fixtures last.
        ordered = sorted(names, key=lambda test: int(4 * self.seconds[test]))
        mirror = f"{Path('tests', *path.parts[1:-1])}/test_{path.name}::"
        groups: list[list[str]] = [[], []]
        for test in ordered:
            groups[not test.startswith(mirror)].append(test)
        # A minute for what has to be loaded, and for kernels that have to be compiled.
        seconds = 60 + 3 * sum(self.seconds[test] for test in names)
        return [group for group in groups if group], seconds


def _written(copy: Path, room: str) -> Path:
    return copy / f"{room.replace('/', '.')}.json"


class Chosen:
    """Runs these tests alone, in this order, and says which of them failed."""

    def __init__(self, tests: list[str], killer: Path) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self._killer = killer

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if any("::" in test for test in self._place):
            items[:] = sorted(
                (item for item in items if named(item) in self._place),
                key=lambda item: self._place[named(item)],
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._killer.write_text(report.nodeid)


def named(item: pytest.Item) -> str:
    """Return the name of a test without its parameters."""
    return item.nodeid.partition("[")[0]


def run_lines(tree: ast.Module, line: int) -> Iterator[int]:
    """Lines that run what stands at a line; none where every test may be concerned.

    They are those of its statement; of a function's body for its head, which is run when its
    module is loaded; and those that use a private constant. What a cached function gives matters
    to more tests than the one that ran it.
    """
    inner = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and first_line(node) <= line <= (node.end_lineno or 0)
    ]
    statement = max(inner, key=lambda node: (first_line(node), -(node.end_lineno or 0)))
    functions = [node for node in inner if isinstance(node, ast.FunctionDef)]
    if statement in tree.body and isinstance(statement, ast.Assign):
        made = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
        used = {
            each.lineno
            for each in ast.walk(tree)
            if isinstance(each, ast.Name) and each.id in made and isinstance(each.ctx, ast.Load)
        }
        if all(name.startswith("_") for name in made):
            for each in used:
                yield from run_lines(tree, each)
    elif functions and not any(
        "cache" in ast.unparse(decorator)
        for function in functions
        for decorator in function.decorator_list
    ):
        start, end = statement.lineno, statement.end_lineno or 0
        if isinstance(statement, ast.FunctionDef):
            start = statement.body[0].lineno
        elif (body := getattr(statement, "body", None)) and line < body[0].lineno:
            end = body[0].lineno - 1
        yield from range(start, end + 1)


def first_line(node: ast.stmt) -> int:
    """Return where a statement begins, with its decorators."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
