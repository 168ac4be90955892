"""Figures in texts: rounded up, and no further than they must be."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from itertools import pairwise

import numpy as np
import pytest

from pacsklearn import Guarantee, PrivacySession
from pacsklearn._statement_layout import as_html, as_text, rows_of_kind
from pacsklearn.audit.html_table import html_table
from pacsklearn.kernel.guarantee.statement_rendering import percent_up, rounded_up


def ceiling(value: Decimal, decimals: int) -> str:
    return str(value.quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING))


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 4, 6])
def test_numbers_are_rounded_up(decimals: int) -> None:
    """Against decimal arithmetic, for numbers that no rounding error brings to another side."""
    for value in np.random.default_rng(0).uniform(0, 50, 200):
        number = round(float(value), 8)
        assert rounded_up(number, decimals) == ceiling(Decimal(repr(number)), decimals)
        if number < 1:
            assert percent_up(number) == ceiling(Decimal(repr(number)) * 100, 2)
    assert rounded_up(1.0001) == "1.001"  # three decimals, if nothing else is said


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.5, "50.00"),
        (np.nextafter(0.5, 1), "50.00"),  # rounding of a computation, not a share
        (0.500000002, "50.01"),
        (0.99999, "100.00"),
        (1.0, "100.00"),
        (1 + 1e-5, "100.00"),
    ],
)
def test_shares_are_rounded_up_and_at_most_all(share: float, shown: str) -> None:
    assert percent_up(share) == shown


def test_what_differs_by_rounding_alone_is_one_figure() -> None:
    assert rounded_up(-1e-12) == "0.000"
    assert {rounded_up(0.1 + 0.2, 3), rounded_up(0.3, 3)} == {"0.300"}


WORDS = " ".join(f"word-{number}" for number in range(60))


def test_a_text_fits_88_columns_and_lines_up() -> None:
    rows = [("one", WORDS), ("twenty two characters..", "short")]
    lines = as_text(f"Title {WORDS}", WORDS, rows, [WORDS, "last"]).splitlines()
    # Breaks stand between words, as late as the width allows.
    for line, after in pairwise(lines):
        assert len(line) <= 88
        if line.endswith("-59") or not after.strip().startswith("word") or not line.strip():
            continue
        assert len(f"{line} {after.split()[0]}") > 88, line
    title, *_ = lines
    assert title.startswith("Title word-0")
    assert lines[1].startswith("  word")
    blank = [number for number, line in enumerate(lines) if not line]
    assert len(blank) == 2
    told = lines[blank[0] + 1 : blank[1]]
    assert all(line.startswith("  word") for line in told)
    facts = lines[blank[1] + 1 : lines.index("  not covered")]
    assert facts[0].startswith(f"  {'one':<23}word-0 ")
    assert all(line.startswith(" " * 25 + "word") for line in facts[1:-1])
    assert facts[-1] == "  twenty two characters..short"
    limits = lines[lines.index("  not covered") + 1 :]
    assert limits[0].startswith("    - word-0 ")
    assert all(line.startswith("      word") for line in limits[1:-1])
    assert limits[-1] == "    - last"
    assert " ".join(" ".join(lines).split()).count(WORDS) == 4


def test_html_has_every_part_once_and_escaped() -> None:
    parts = ["<t>", "<p&>", "<n>", "<v>", "<l>"]
    text = as_html(parts[0], parts[1], [(parts[2], parts[3])], [parts[4]])
    for part in parts:
        assert part not in text.replace("<p>", "")
        assert text.count(part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")) == 1


def test_tables_hold_texts_and_no_markup_of_theirs() -> None:
    assert html_table((), [("a", "<b>")]) == "<table><tr><td>a</td><td>&lt;b&gt;</td></tr></table>"
    shown = html_table(("<h>",), [("x",), ("y",)], "color:red")
    head, *rows = shown.removeprefix("<table>").split("<tr>")[1:]
    assert head == "<th style='color:red'>&lt;h&gt;</th></tr>"
    assert rows == [
        "<td style='color:red'>x</td></tr>",
        "<td style='color:red'>y</td></tr></table>",
    ]


def test_a_kind_without_rows_of_its_own_states_its_figures() -> None:
    with PrivacySession.over(range(4), budget=1 / 2) as session:
        guarantee = session.guarantee_
    about, why = rows_of_kind.dispatch(Guarantee)(guarantee)
    assert about == [(figure.name, str(figure)) for figure in guarantee.figures]
    assert all(name in guarantee.summary for name, _ in about)
    assert why == ()
