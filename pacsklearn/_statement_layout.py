"""The words of a guarantee beside its promise, laid out as text and as HTML."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import singledispatch

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up, rounded_up
from pacsklearn.kernel.secret.stated_secret import PACSecret

_KNOWLEDGE = (("knowing k of them", "others'"), ("k against the worst", "that unit's"))


def laid_out(guarantee: Guarantee, form: str) -> str:
    """Return a guarantee as ``"text"`` or ``"html"``, or the ``"summary"`` of its figures."""
    title, promise = guarantee.title, guarantee.promise
    if form == "summary":
        return as_text(title, promise, _figure_rows(guarantee), ())
    layout = as_html if form == "html" else as_text
    return layout(title, promise, statement_rows(guarantee), guarantee.not_covered)


def as_text(title: str, promise: str, rows: Rows, not_covered: Iterable[str]) -> str:
    """Return the text of at most 88 columns."""
    lines = [*_wrapped("", title, "  "), "", *_wrapped("  ", promise, "  "), ""]
    for name, value in rows:
        lines += _wrapped(f"  {name:<23}", value, " " * 25)
    limits = list(not_covered)
    lines += ["  not covered"] * bool(limits)
    for sentence in limits:
        lines += _wrapped("    - ", sentence, " " * 6)
    return "\n".join(lines)


def _wrapped(first: str, text: str, others: str) -> list[str]:
    """Return lines of at most 88 columns; no number is parted from its %."""
    kept = text.replace(" %", "\xa0%")
    lines = textwrap.wrap(
        kept, 88, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in lines]


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


def statement_rows(guarantee: Guarantee) -> Rows:
    """Return names of facts that a guarantee states, and what it states of them."""
    about, why = rows_of_kind(guarantee)
    software = (f"{p.name} ({p.distribution} {p.version})" for p in guarantee.provenance)
    return [
        *about,
        ("noise", guarantee.noise),
        ("bound", guarantee.bound),
        *why,
        ("released with noise", ", ".join(guarantee.released) or "nothing"),
        ("public as it is", ", ".join(guarantee.public) or "nothing"),
        ("sources", "; ".join(guarantee.sources)),
        ("software", ", ".join(software)),
    ]


@singledispatch
def rows_of_kind(guarantee: Guarantee) -> tuple[Rows, Rows]:
    """Return the rows on what was spent and on the secret, and those that explain the bound.

    A kind of guarantee that registers none has those of its figures.
    """
    return [*_figure_rows(guarantee), *guarantee.details], ()


def _figure_rows(guarantee: Guarantee) -> Rows:
    return [(figure.name, str(figure)) for figure in guarantee.figures]


@rows_of_kind.register
def _pac_rows(guarantee: PACGuarantee) -> tuple[Rows, Rows]:
    secret, epsilon = guarantee.secret, dp_epsilon(guarantee.posterior_membership)
    same = "no finite epsilon" if epsilon == math.inf else f"{rounded_up(epsilon)}-DP"
    about = [
        *_spending(guarantee),
        *guarantee.details,
        (secret.even, f"{same} (a comparison, not a claim of DP)"),
        *secret.rows(guarantee.bounds),
        *knowledge_rows(secret, guarantee.information),
        *_certificate(guarantee),
        ("unit of privacy", secret.unit),
    ]
    return about, ()


def knowledge_rows(secret: PACSecret, information: float) -> Rows:
    """Return the rows on adversaries who know some memberships."""
    cells = [secret.knowing(k, information) for k in range(1, len(secret.known))]
    lines = []
    for which, (name, whose) in enumerate(_KNOWLEDGE):
        shown = "; ".join(
            f"{k}: {percent_up(cell[which])} to {percent_up(cell[which + 2])} %"
            for k, cell in enumerate(cells, start=1)
        )
        if shown:
            lines.append((name, f"{whose} membership, guessed blindly and at most: {shown}"))
    worst = max(secret.known_errors, default=0.0)
    if lines and worst:
        name, shown = lines[0]
        estimated = f"(standard errors of at most {percent_up(worst)} %; the bounds allow three)"
        lines[0] = (name, f"{shown} {estimated}")
    if len(lines) > 1 and secret.is_searched:
        name, shown = lines[1]
        lines[1] = (name, f"{shown} (where 2 or more are known, the worst that a search found)")
    return lines


def _six(value: float, rounding: str = ROUND_CEILING) -> str:
    """Write a number in six digits, rounded outward but for what doubles' sums are off by."""
    return f"{float(Context(6, rounding).create_decimal(f'{value:.12g}')):.6g}"


def _spending(guarantee: PACGuarantee) -> Rows:
    remaining = guarantee.remaining_entropy
    left: list[tuple[str, str]] = []
    if remaining is not None:
        left.append(
            ("remains unknown", f"at least {_six(remaining, ROUND_FLOOR)} nats of the secret")
        )
    if guarantee.criterion is None:
        unit = guarantee.unit
        of_all = f"of {guarantee.budget:.6g} {unit}"
        # Where steps depend on those before, all that may be spent is promised.
        if guarantee.metered is None or guarantee.metered >= guarantee.spent:
            spent = f"{_six(guarantee.spent)} {of_all} of mutual information"
            return [("spent", spent), *left]
        most = f"at most {_six(guarantee.spent)} {unit}, whatever is asked"
        charged = f"{_six(guarantee.metered)} {of_all}"
        return [("mutual information", most), *left, ("charged so far", charged)]
    spent = (
        f"at most {percent_up(guarantee.spent)} %, the cap being {percent_up(guarantee.budget)} %; "
        f"criterion {guarantee.criterion}"
    )
    return [
        ("success", spent),
        ("mutual information", f"at most {_six(guarantee.information)} nats"),
        *left,
    ]


def _certificate(guarantee: PACGuarantee) -> Rows:
    if guarantee.certified_membership is None:
        return []
    certified, implied = guarantee.certified_membership, guarantee.posterior_membership
    by = "the cap" if guarantee.capped == MEMBERSHIP_AIM else "the information"
    sure = f"at confidence {guarantee.certified_confidence:.8g}"
    if certified < implied:
        figure = f"certified at most {percent_up(certified)} % {sure}"
        return [("membership", f"{figure}; implied by {by} {percent_up(implied)} %")]
    if guarantee.capped == MEMBERSHIP_AIM:
        return []  # the cap is what was certified
    # Both hold: the smaller is promised, the other has a margin that the smaller has not.
    second = f"computed again from draws, with their margin, at most {percent_up(certified)} %"
    return [("membership", f"at most {percent_up(implied)} %, by {by}; {second} {sure}")]
