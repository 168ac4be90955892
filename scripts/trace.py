"""Trace how far a call walks through the project: files, functions, rings, depth, changes of file.

Usage: ``python scripts/trace.py``, where the project is installed; prints the calls below.
Change ``calls`` to trace others: each is a name and a function without arguments.
"""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pacsklearn

ROOT = str(Path(pacsklearn.__file__).parent)


def walked(name: str, call: Callable[[], Any]) -> Any:
    """Run ``call`` and print what it passes through."""
    functions: Counter[tuple[str, str]] = Counter()
    order: list[str] = []
    deepest = 0

    def note(frame: Any, event: str, _: Any) -> None:
        nonlocal deepest
        code = frame.f_code
        # Bodies of modules and classes are run by an import and are no calls.
        is_call = event == "call" and code.co_flags & inspect.CO_OPTIMIZED
        if not is_call or not code.co_filename.startswith(ROOT):
            return
        functions[code.co_filename, code.co_qualname] += 1
        depth, back = 0, frame
        while back is not None:
            depth += back.f_code.co_filename.startswith(ROOT)
            back = back.f_back
        deepest = max(deepest, depth)
        if not order or order[-1] != code.co_filename:
            order.append(code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        out = call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files = {file for file, _ in functions}
    rings = Counter(Path(file).relative_to(ROOT).parts[0] for file in files)
    print(
        f"{name}: {len(files)} files, {len(functions)} functions, {len(rings)} rings, "
        f"depth {deepest}, changes of file {len(order)}\n   {dict(rings.most_common())}"
    )
    return out


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """First fit, second fit, an agreed and a contested answer."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale
    from sklearn.svm import SVC, LinearSVC

    from pacsklearn import PACPrivate

    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    for word in ("first", "second"):
        yield (
            f"PACPrivate(LinearSVC()).fit, {word}",
            lambda: PACPrivate(LinearSVC(C=0.01)).fit(X, y),
        )
    answering = PACPrivate(SVC(), budget=1 / 16).fit(X, y)
    contested = [i for i in range(len(X)) if answering.preview(X[i : i + 1]).n_contested]
    agreed = [i for i in range(len(X)) if i not in contested]
    answering.predict(X[contested[:1]])
    yield "PACPrivate(SVC()).predict, agreed rows", lambda: answering.predict(X[agreed[:20]])
    yield "PACPrivate(SVC()).predict, contested rows", lambda: answering.predict(X[contested[1:3]])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for title, each in calls():
        walked(title, each)
