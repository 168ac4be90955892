"""How large the house is, and how far a call walks through it.

Usage: ``python scripts/house.py [--rooms]`` in the project's folder. Prints

* code lines without docstrings, comments and blank lines, by room, and how many comments there are
  for a hundred of them (directives to tools are none);
* files and functions of pacsklearn on the path of the first ``PACPrivate(LinearSVC()).fit`` of a
  process and of ``PACPrivate(SVC()).predict`` for new rows, on which all candidates agree or some
  differ (only those are charged); bodies of modules are none;
* processor time of a stored answer, and of the registry's first load in a process of its own.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import threading
import time
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1] / "pacsklearn"
_REPEATS = 2000
_DIRECTIVES = ("noqa", "type: ignore", "fmt:", "pragma")
_LOAD = (
    "import time, sklearn.base, pacsklearn.plugin as plugin;"
    "start = time.process_time(); plugin.registry().records('noise_backend');"
    "print(time.process_time() - start)"
)


def code_lines(path: Path) -> int:
    """Lines that hold code: a docstring is none, nor is a comment."""
    text = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_text and isinstance(first.value.value, str):
            docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    }
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docstrings)


def comments(path: Path) -> int:
    """Lines of comments that are for people."""
    text = path.read_text(encoding="utf-8")
    return sum(
        token.type == tokenize.COMMENT and not any(each in token.string for each in _DIRECTIVES)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def walked(call: Callable[[], Any]) -> tuple[set[str], set[tuple[str, str]]]:
    """Files and functions of pacsklearn that a call enters, in any thread."""
    functions: set[tuple[str, str]] = set()
    inside = str(ROOT)

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(inside) and code.co_name != "<module>":
            functions.add((code.co_filename, f"{code.co_qualname}:{code.co_firstlineno}"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {name for name, _ in functions}, functions


def main() -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.svm import SVC, LinearSVC

    from pacsklearn import PACPrivate

    rooms: Counter[str] = Counter()
    files: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        room = parts[0] if len(parts) > 1 else "(beside the rooms)"
        rooms[room] += code_lines(path)
        files[room] += 1
        remarks[room] += comments(path)
    shown = rooms.most_common() if "--rooms" in sys.argv else []
    for room, lines in [*shown, ("all", rooms.total())]:
        count, share = (each.total() if room == "all" else each[room] for each in (files, remarks))
        print(f"{room:<20}{count:>5} files{lines:>8,} lines{100 * share / lines:>6.1f} % comments")

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    linear = PACPrivate(LinearSVC(C=0.01), n_subsets=8, budget=1.0)
    on_path, functions = walked(lambda: linear.fit(X, y))
    print(f"PACPrivate(LinearSVC()).fit: {len(on_path)} files, {len(functions)} functions")

    black_box = PACPrivate(SVC(), n_subsets=8).fit(X, y)
    contested = [row for row in range(len(X)) if black_box.preview(X[row : row + 1]).n_contested]
    black_box.predict(X[contested[0] : contested[0] + 1])
    agreed = [row for row in range(len(X)) if row not in contested]
    for what, rows in (("agreed", agreed[:20]), ("contested", contested[1:3])):
        on_path, functions = walked(lambda rows=rows: black_box.predict(X[rows]))
        size = f"{len(on_path)} files, {len(functions)} functions"
        print(f"PACPrivate(SVC()).predict, {what} rows: {size}")

    responder = black_box.responder()
    for name, ask in (("predict", black_box.predict), ("responder.predict", responder.predict)):
        start = time.process_time()
        for _ in range(_REPEATS):
            ask(X[:1])
        each = (time.process_time() - start) / _REPEATS
        print(f"a stored answer by {name}: {1e6 * each:.0f} us of processor time")
    load = [
        float(subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"registry's first load: {1e3 * min(load):.1f} ms of processor time")


if __name__ == "__main__":
    main()
