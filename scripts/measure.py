"""Measure the code base: size by ring, import closure, circles, forwarders, comments.

Usage: ``python measure.py [PROJECT] [MODULE ...]`` (default: the working directory, and
``pacsklearn.estimators.pac_private``). Reads text only; nothing of the project is run.

* code: lines that hold code, without docstrings, comments and blank lines;
* closure: modules of the project that importing MODULE brings, by top-level imports and, second,
  with imports inside functions;
* circles: strongly connected sets of files (top-level and inner imports, annotations apart);
* imports out of the kernel: those of any file outside it, but for the three it stands on;
* forwarders: functions whose only statement is a call that passes their own arguments on.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

FLOOR = ("pacsklearn.exceptions", "pacsklearn._validation", "pacsklearn._sklearn_compat")
"""What every ring, the kernel too, stands on: errors, argument checks, scikit-learn's inside."""

DIRECTIVES = ("noqa", "type: ignore", "fmt:", "pragma")


def lines_of(text: str) -> tuple[int, int]:
    """Lines of code, and comments, of a source text."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    comments = 0
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += not any(word in token.string for word in DIRECTIVES)
        elif token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), comments


def modules_of(project: Path) -> dict[str, Path]:
    """Every module of the main package and of the plugins' packages, by dotted name."""
    found = {}
    for root in [project / "pacsklearn", *sorted(project.glob("plugins/*/src/*"))]:
        for path in root.rglob("*.py"):
            parts = (root.name, *path.relative_to(root).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def ring_of(name: str, path: Path, project: Path) -> str:
    """Ring, or distribution, that a module belongs to."""
    inside = path.relative_to(project).parts
    if inside[0] == "plugins":
        return "/".join(inside[:2])
    parts = name.split(".")
    return parts[1] if len(inside) > 2 else "(top)"


def imports_of(text: str, known: dict[str, Path], *, inner: bool) -> set[str]:
    """Modules of the project that a source text imports; with ``inner``, inside functions too."""
    tree = ast.parse(text)
    hidden = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.walk(node)
    }
    out = set()
    for node in ast.walk(tree) if inner else tree.body:
        if id(node) in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            out |= {name for a in node.names if (name := f"{node.module}.{a.name}") in known}
            if node.module in known:
                out.add(node.module)
        elif isinstance(node, ast.Import):
            out |= {a.name for a in node.names if a.name in known}
    return out


def closure(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Modules reached from ``start``, and from the top, which is imported before it."""
    seen: set[str] = set()
    waiting = [start, "pacsklearn"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph.get(name, ())
    return seen


def circles_of(graph: dict[str, set[str]]) -> list[list[str]]:  # noqa: C901 - one algorithm
    """Sets of modules that import each other, largest first (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph.get(name, ()):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == name:
                    break
            if len(group) > 1:
                out.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for name in graph:
        if name not in index:
            visit(name)
    return sorted(out, key=len, reverse=True)


def forwards(function: ast.FunctionDef) -> bool:
    """Whether a function's only statement passes its own arguments to another call."""
    body = [
        s
        for s in function.body
        if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    if len(body) != 1 or function.decorator_list or not isinstance(body[0], (ast.Return, ast.Expr)):
        return False
    call = body[0].value
    if not isinstance(call, ast.Call):
        return False
    taken = {a.arg for a in [*function.args.args, *function.args.kwonlyargs]} - {"self", "cls"}
    passed = [x.id for x in call.args if isinstance(x, ast.Name)]
    passed += [k.value.id for k in call.keywords if isinstance(k.value, ast.Name)]
    return (
        bool(taken)
        and taken <= set(passed)
        and len(call.args) + len(call.keywords) <= len(taken) + 1
    )


def main(project: Path, starts: list[str]) -> None:
    known = modules_of(project)
    texts = {name: path.read_text(encoding="utf-8") for name, path in known.items()}
    size = {name: lines_of(text) for name, text in texts.items()}
    ring = {name: ring_of(name, path, project) for name, path in known.items()}
    code, files, notes = Counter(), Counter(), Counter()
    for name, (n_code, n_comments) in size.items():
        code[ring[name]] += n_code
        notes[ring[name]] += n_comments
        files[ring[name]] += 1
    print(f"{'ring':28}{'files':>6}{'code':>8}{'comments per 100':>18}")
    for place in sorted(code, key=lambda p: (p.startswith("plugins"), -code[p])):
        share = 100 * notes[place] / max(code[place], 1)
        print(f"{place:28}{files[place]:>6}{code[place]:>8,}{share:>18.1f}")
    inside = sum(n for place, n in code.items() if not place.startswith("plugins"))
    print(f"main distribution {inside:,}, all {sum(code.values()):,}")
    top = {name: imports_of(text, known, inner=False) for name, text in texts.items()}
    all_imports = {name: imports_of(text, known, inner=True) for name, text in texts.items()}
    for start in starts:
        for words, graph in (("top level", top), ("with inner", all_imports)):
            reached = closure(start, graph)
            total = sum(size[name][0] for name in reached if name in size)
            rings = len({ring[name] for name in reached if name in ring})
            print(
                f"closure of {start}, {words}: {len(reached)} modules, {total:,} code, "
                f"{rings} rings"
            )
    circles = circles_of(all_imports)
    print(f"circles {len(circles)}" + "".join(f"\n   {', '.join(c)}" for c in circles[:6]))
    out = Counter(
        other
        for name, others in all_imports.items()
        if ring[name] == "kernel"
        for other in others
        if ring[other] != "kernel" and other not in FLOOR
    )
    floor = sum(size[name][0] for name in FLOOR if name in size)
    print(f"kernel {code['kernel']:,}, with the floor it stands on {code['kernel'] + floor:,}")
    print(f"imports out of the kernel {sum(out.values())}", dict(out) or "")
    functions = [
        n for t in texts.values() for n in ast.walk(ast.parse(t)) if isinstance(n, ast.FunctionDef)
    ]
    print(f"functions {len(functions):,}, forwarders {sum(map(forwards, functions))}")
    for word in ("hasattr(", "isinstance("):
        print(f"{word[:-1]} {sum(t.count(word) for t in texts.values())}", end="  ")
    print()


if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    main(where, sys.argv[2:] or ["pacsklearn.estimators.pac_private"])
