"""Python blocks of pages, and whether a page shows what they print.

python tests/docs/blocks.py PAGE...    run pages in this environment, without pytest
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import sys
import tempfile
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^(?P<indent>[ ]*)```python[ ]*\n(?P<code>.*?)^(?P=indent)```[ ]*$"
    r"(\n\n?(?P=indent)```output\n(?P<shown>.*?)^(?P=indent)```[ ]*$)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
# Noise is drawn afresh in every run, and so are the figures that depend on it: sizes are compared.
CLOSE = {"rel_tol": 0.5, "abs_tol": 0.5}


def blocks(page: Path) -> Iterator[tuple[int, str, str | None]]:
    """Line number and code of each block, and the output that the page shows below it."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text[: match.start("code")].count("\n")
        yield line, textwrap.dedent(match["code"]), match["shown"]


def agree(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: "..." is any words, decimals are of one size."""
    pattern = "".join(
        ".*?" if part == "..." else r"(-?\d+\.\d+(?:e-?\d+)?)" if NUMBER.fullmatch(part)
        else r"\s+" if part.isspace() else re.escape(part)
        for part in re.split(r"(\.\.\.|\s+|-?\d+\.\d+(?:e-?\d+)?)", shown.strip())
    )  # fmt: skip
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return found is not None and all(
        math.isclose(float(said), float(number), **CLOSE)
        for said, number in zip(NUMBER.findall(shown), found.groups(), strict=True)
    )


def run(page: Path, namespace: dict[str, Any]) -> None:
    """Run all blocks of a page in one namespace; AssertionError where another output is shown."""
    for line, code, shown in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Blank lines put the page's own line numbers into a traceback.
            exec(compile("\n" * line + code, str(page), "exec"), namespace)  # noqa: S102 - our pages
        if shown is not None:
            told = printed.getvalue()
            assert agree(shown, told), f"{page.name}:{line} shows something else than\n{told}"


def main() -> None:
    """Run the pages that are named, each in a new folder."""
    os.environ["MPLBACKEND"] = "Agg"
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        module = types.ModuleType(f"page_{page.stem}")
        sys.modules[module.__name__] = module  # so that classes of a page can be pickled
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            run(page, vars(module))


if __name__ == "__main__":
    main()
