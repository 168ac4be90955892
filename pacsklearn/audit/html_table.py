"""Tables of texts for notebooks and reports."""

from __future__ import annotations

import html
from collections.abc import Iterable


def html_table(header: Iterable[str], rows: Iterable[Iterable[str]], style: str = "") -> str:
    """Return the table of texts; without a first line where ``header`` is empty."""
    marked = f" style='{style}'" if style else ""

    def line(kind: str, cells: Iterable[str]) -> str:
        shown = (f"<{kind}{marked}>{html.escape(cell)}</{kind}>" for cell in cells)
        return f"<tr>{''.join(shown)}</tr>"

    lines = [line("td", row) for row in rows]
    names = tuple(header)
    return f"<table>{''.join([line('th', names), *lines] if names else lines)}</table>"
