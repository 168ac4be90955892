"""How the words of a guarantee are laid out, as text and as HTML."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable

from pacsklearn.kernel.guarantee.statement_rendering import Rows


def as_text(title: str, promise: str, rows: Rows, not_covered: Iterable[str]) -> str:
    """Return the text of at most 88 columns."""
    lines = [*textwrap.wrap(title, 88, subsequent_indent="  "), ""]
    lines += textwrap.wrap(promise, 88, initial_indent="  ", subsequent_indent="  ")
    lines.append("")
    for name, value in rows:
        lines += textwrap.wrap(
            value,
            88,
            initial_indent=f"  {name:<23}",
            subsequent_indent=" " * 25,
            break_on_hyphens=False,
        )
    limits = list(not_covered)
    lines += ["  not covered"] * bool(limits)
    for sentence in limits:
        lines += textwrap.wrap(sentence, 88, initial_indent="    - ", subsequent_indent=" " * 6)
    return "\n".join(lines)


def as_html(title: str, promise: str, rows: Rows, not_covered: Iterable[str]) -> str:
    """Return the HTML for a notebook."""
    shown = "".join(
        f"<tr><th style='text-align:left;vertical-align:top;padding-right:1em'>"
        f"{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows
    )
    limits = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in not_covered)
    return (
        "<div class='pacsklearn-guarantee' style='max-width:52em;border:1px solid #8889;"
        "border-radius:4px;padding:.5em 1em;margin:.5em 0'>"
        f"<p><strong>{html.escape(title)}</strong></p><p>{html.escape(promise)}</p>"
        f"<table>{shown}</table>"
        f"<details><summary>What is not covered</summary><ul>{limits}</ul></details></div>"
    )
