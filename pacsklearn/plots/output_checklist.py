"""What an officer for disclosure control checks and signs."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, final

from pacsklearn.audit.audit_record import Audit
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.status import Reliance
from pacsklearn.plots.page import Page, filled
from pacsklearn.plots.privacy_statement import guarantee_of

CHECKLIST_SCHEMA: Final = "pacsklearn-output-checklist/1"
MET, VIOLATED, OPEN = "met", "violated", "open"


@final
@dataclass(frozen=True)
class CheckLine:
    """One line of a checklist.

    Parameters
    ----------
    safe : str
        Which of the five safes: ``"projects"``, ``"people"``, ``"data"``, ``"settings"`` or
        ``"outputs"``.
    question : str
    verdict : str
        ``"met"``, ``"violated"``, or ``"open"``: for the officer to decide.
    finding : str
        Why, in figures.
    """

    safe: str
    question: str
    verdict: str
    finding: str


@final
@dataclass(frozen=True)
class OutputChecklist(Page):
    """The five safes, line by line. Made by :func:`output_checklist`.

    Parameters
    ----------
    title : str
        What is to be published.
    lines : tuple of CheckLine
    """

    title: str
    lines: tuple[CheckLine, ...]

    @property
    def violations(self) -> tuple[CheckLine, ...]:
        """Lines that forbid publication."""
        return tuple(line for line in self.lines if line.verdict == VIOLATED)

    @property
    def passed(self) -> bool:
        """Whether no line is violated. Open lines are still the officer's."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that follows the published schema."""
        return {
            "schema": CHECKLIST_SCHEMA,
            "title": self.title,
            "passed": self.passed,
            "lines": [asdict(line) for line in self.lines],
            "signature": {"name": "", "date": "", "decision": ""},
        }

    def to_html(self) -> str:
        """Return one page, to print and to sign; it opens without a network."""
        rows = "".join(
            f"<tr class='{line.verdict}'><td>{html.escape(line.safe)}</td>"
            f"<td>{html.escape(line.question)}</td><td>{line.verdict}</td>"
            f"<td>{html.escape(line.finding)}</td></tr>"
            for line in self.lines
        )
        return filled("checklist.html", title=html.escape(self.title), rows=rows)

    def __str__(self) -> str:
        verdict = "no line violated" if self.passed else "VIOLATED"
        return "\n".join(
            [f"Output check of {self.title}: {verdict}", ""]
            + [
                f"{each.safe:9} {each.verdict:9} {each.question} {each.finding}"
                for each in self.lines
            ]
        )


def output_checklist(
    source: Any,
    *,
    title: str,
    audit: Audit | None = None,
    purpose: str = "",
    limits: Iterable[Budget] = (),
) -> OutputChecklist:
    """Return the checklist of a release, from its guarantee and its audit.

    Parameters
    ----------
    source : fitted estimator, release, session or guarantee
    title : str
        What is to be published.
    audit : Audit, optional
        Of the same release; without one the line on attacks is open.
    purpose : str, default=""
        Why it is published; without one the line on the project is open.
    limits : iterable of Budget, default=()
        Most that a release may reveal by the rules of the house, such as ``[Membership(0.85)]``;
        without any the line is open.

    Returns
    -------
    OutputChecklist

    Raises
    ------
    ValueError
        When the guarantee states nothing of what a limit bounds.
    """
    guarantee = guarantee_of(source)
    kind, head = guarantee.status.kind, guarantee.ledger_head
    threats = " ".join(guarantee.secret.threats)
    public = ", ".join(guarantee.public) or "nothing is"
    charge = head or "the charge is on no shared ledger"
    proof = f"confidence {guarantee.confidence:.8g}: {guarantee.bound}"
    noise = f"noise: {guarantee.noise}"
    is_kept = guarantee.spent <= guarantee.budget * (1 + 1e-9)
    spent = f"{guarantee.spent:.6g} of {guarantee.budget:.6g} spent"
    left_out = " ".join(guarantee.not_covered) or "nothing is left out"
    may_leave, status = kind is not Reliance.NOT_FOR_RELEASE, str(guarantee.status)
    lines = (
        _line("projects", "Is the purpose stated?", True if purpose else None, purpose),
        _line("people", "Does the promise hold whoever reads it?", True, threats),
        _protected(guarantee),
        _line("data", "Is what is published without noise public?", None, public),
        _line("settings", "May it be given away?", may_leave, status),
        _line("settings", "Does a shared ledger hold the charge?", True if head else None, charge),
        _line("outputs", "Is the promise proved?", kind is not Reliance.ESTIMATED, proof),
        _line("outputs", "Is anything hidden?", kind is not Reliance.HIDES_NOTHING, noise),
        _line("outputs", "Is the budget kept?", is_kept, spent),
        *_success(guarantee, tuple(limits)),
        _attacks(audit),
        _line("outputs", "Is what is not covered acceptable?", None, left_out),
    )
    return OutputChecklist(title, lines)


def _line(safe: str, question: str, met: bool | None, finding: str) -> CheckLine:
    verdict = OPEN if met is None else MET if met else VIOLATED
    return CheckLine(safe, question, verdict, finding or "not stated")


def _protected(guarantee: Guarantee) -> CheckLine:
    secret = guarantee.secret
    finding = f"unit: {secret.unit}. {secret.exceptions or 'All are.'}"
    return _line("data", "Is every unit of privacy protected?", not secret.exceptions, finding)


def _success(guarantee: Guarantee, limits: tuple[Budget, ...]) -> list[CheckLine]:
    question = "Is the success that an adversary may have acceptable?"
    headline = guarantee.figures[0]
    if not limits:
        finding = f"{headline.name} {headline}; no limit was given"
        return [_line("outputs", question, None, finding)]
    lines = []
    for limit in limits:
        reached = guarantee.reached(limit)
        if reached is None:
            raise ValueError(
                f"limits: {limit!r} bounds {limit.description}, of which this guarantee states "
                f"nothing; leave it out. It states {headline.name} {headline}."
            )
        met = reached <= limit.amount
        lines.append(_line("outputs", question, met, f"{reached:.6g} reached; limit {limit!r}"))
    return lines


def _attacks(audit: Audit | None) -> CheckLine:
    question = "Did no attack refute the promise?"
    if audit is None:
        return _line("outputs", question, None, "no audit was made")
    names = ", ".join(result.attack for result in audit.results)
    finding = f"{len(audit.results)} attacks at {100 * audit.level:g} % together: {names}"
    if not audit.passed:
        refuted = {result.attack for result in audit.violations}
        refuted |= {point.attack for point in audit.violated_points}
        finding += f"; refuted by {', '.join(sorted(refuted))}"
    return _line("outputs", question, audit.passed, finding)
