"""What attacks achieved against a guarantee, and what divergence their success refutes."""

from __future__ import annotations

import html
import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias, TypeVar, final

from scipy.special import xlog1py, xlogy

from pacsklearn._validation import as_probability
from pacsklearn.audit.attack import AttackResult, Interval
from pacsklearn.audit.html_table import html_table
from pacsklearn.audit.operating_point import RATES, OperatingPoint
from pacsklearn.audit.roc_curve import AttackROC
from pacsklearn.exceptions import AuditViolationError
from pacsklearn.kernel.guarantee.statement_rendering import rounded_up
from pacsklearn.kernel.ledger.event import Provenance


def refuted_divergence(success: float, blind: float, order: float) -> float:
    """Return Renyi divergence that some pair of secrets must have, if a guess is right so often.

    Parameters
    ----------
    success : float
        Of the guess, in [0, 1].
    blind : float
        Success of the best blind guess; 1/2 is taken to be that of naming one of two secrets.
    order : float
        Renyi order, above 1.

    Returns
    -------
    float
        In nats; infinite where the guess is always right.

    Notes
    -----
    Two secrets: a guess is right with ``s = (P(A) + Q(not A)) / 2``. Of all pairs of chances
    ``(q + 2 s - 1, q)`` the symmetric one, ``(s, 1 - s)``, has the least divergence in the worse
    direction, because the divergence is jointly quasi-convex (van Erven and Harremoes 2014,
    Theorem 13) and the two directions are mirror images. More secrets: divergences grow with the
    order, and that of order 1 is not below the information, which is not below the divergence
    between success and blind success.

    Examples
    --------
    >>> round(refuted_divergence(0.75, 0.5, 4.0), 4)
    0.9691
    """
    s, q = as_probability("success", success), as_probability("blind", blind)
    if s <= q:
        return 0.0
    if q != 0.5:
        return math.inf if q == 0 else float(xlogy(s, s / q) + xlog1py(1 - s, (q - s) / (1 - q)))
    if s == 1:
        return math.inf
    odds = math.log(s) - math.log1p(-s)
    # s^order (1 - s)^(1 - order), and the same for the other event.
    terms = math.log(s) + (order - 1) * odds, math.log1p(-s) - (order - 1) * odds
    total = terms[0] + math.log1p(math.exp(terms[1] - terms[0]))
    return total / (order - 1)


CURATOR_ONLY = (
    "For the curator: attacks are played on models fitted without noise. No secret was read, and "
    "nothing here is covered by a guarantee."
)

T = TypeVar("T")
Cells: TypeAlias = tuple[str, ...]

_STYLE = "text-align:left;padding-right:1em"
_HEADER = ("attack", "aim", "success", "interval", "blind", "allowed", "verdict")
_POINT_HEADER = ("attack", "aimed at", "false alarms", "members found", "allowed", "verdict")


def max_intervals(n_attacks: int) -> int:
    """Return intervals that an audit states at most: one for each success, two for each point."""
    return max(n_attacks, 1) * (1 + 2 * len(RATES))


@final
@dataclass(frozen=True)
class Audit:
    """Attacks on a mechanism beside what its guarantee allows. Round-trips JSON.

    Made by :func:`run_audit`. Silence proves nothing: an attack's success is a lower bound on what
    leaks, the guarantee is an upper one.

    Parameters
    ----------
    subject : str
        What was attacked.
    results : tuple of AttackResult
        One for each attack.
    level : float
        Least probability that all intervals cover, together.
    information : float or None
        Nats that the guarantee says are revealed at most; None where it speaks of something else.
    n_subsets, n_units : int
        Candidates, and units of privacy (0 when there are none).
    seed : int
        Public seed of the rounds.
    curves : tuple of AttackROC, default=()
        Of the attacks that judge one unit's membership.
    provenance : tuple of Provenance, default=()
        Attack plugins involved.
    points : tuple of OperatingPoint, default=()
        What the attacks on membership find at few false alarms.
    order, divergence : float, optional
        Renyi order of the guarantee, and the divergence of the whole release that it allows, in
        nats; None where it speaks of something else.
    """

    subject: str
    results: tuple[AttackResult, ...]
    level: float
    information: float | None
    n_subsets: int
    n_units: int
    seed: int
    curves: tuple[AttackROC, ...] = ()
    provenance: tuple[Provenance, ...] = ()
    points: tuple[OperatingPoint, ...] = ()
    order: float | None = None
    divergence: float | None = None

    @property
    def attack_level(self) -> float:
        """Level of each interval, such that :attr:`level` holds for all together (Bonferroni).

        Besides the interval of each attack's success there are two for each operating point that
        an attack on membership may have.
        """
        return 1 - (1 - self.level) / max_intervals(len(self.results))

    def interval(self, result: AttackResult) -> Interval:
        """Compute the exact interval of one attack's success, at :attr:`attack_level`."""
        return result.confidence_interval(self.attack_level)

    @property
    def violations(self) -> tuple[AttackResult, ...]:
        """Attacks that refute the bound: their whole interval lies above it.

        On a mechanism that keeps its promise there is one, or one of :attr:`violated_points`, with
        a probability of at most ``(1 - level) / 2``.
        """
        return tuple(result for result in self.results if result.violates(self.attack_level))

    @property
    def violated_points(self) -> tuple[OperatingPoint, ...]:
        """Operating points that refute the guarantee: more members found than it allows."""
        return tuple(point for point in self.points if point.violates(self.attack_level))

    @property
    def epsilon_refuted(self) -> float | None:
        """Lower bound on the Renyi divergence of the whole release, in nats, at :attr:`level`.

        What :attr:`divergence` allows is not below it, if the promise is kept. None where the
        guarantee is not about such a divergence. Source:
        :func:`~pacsklearn.audit.audit_record.refuted_divergence`.
        """
        if self.order is None:
            return None
        # Where not all pairs are protected nothing is promised about a guess, nor follows from it.
        promised = [result for result in self.results if result.bound is not None]
        ends = ((self.interval(result).low, result.prior) for result in promised)
        return max((refuted_divergence(*each, self.order) for each in ends), default=0.0)

    @property
    def passed(self) -> bool:
        """Whether no attack refutes the bound: by success, few false alarms, or divergence."""
        refuted = self.epsilon_refuted
        within = refuted is None or self.divergence is None or refuted <= self.divergence
        return not self.violations and not self.violated_points and within

    def raise_if_violated(self) -> None:
        """Raise when an attack did better than the guarantee allows.

        Raises
        ------
        AuditViolationError
            Naming the attacks.
        """
        if not self.passed:
            points = [_point_cells(self, point) for point in self.violated_points]
            refuted = [f"{result.attack} ({_words(self, result)})" for result in self.violations]
            refuted += [f"{attack} ({', '.join(facts)})" for attack, *facts in points]
            raise AuditViolationError(
                f"{self.subject}: the guarantee is refuted by "
                f"{'; '.join(refuted or [self._divergences])}. Do not release anything made by it."
            )

    def __str__(self) -> str:
        tables = [_table([header, *rows]) for header, rows in self._parts()]
        return "\n\n".join([self._title, *tables, self._note])

    def _parts(self) -> list[tuple[Cells, list[Cells]]]:
        """Return the head and rows of each table."""
        results = [_cells(self, result) for result in self.results]
        points = [_point_cells(self, point) for point in self.points]
        return [(_HEADER, results), *([(_POINT_HEADER, points)] if points else [])]

    @property
    def _title(self) -> str:
        verdict = "no attack refutes the guarantee" if self.passed else "GUARANTEE REFUTED"
        return f"Audit of {self.subject}: {verdict}"

    @property
    def _note(self) -> str:
        trials = max((result.n_trials for result in self.results), default=0)
        return (
            f"{trials:,} rounds an attack, intervals exact and {100 * self.level:g} % together. "
            + self._divergences
            + CURATOR_ONLY
        )

    @property
    def _divergences(self) -> str:
        refuted = self.epsilon_refuted
        if refuted is None:
            return ""
        least = f"{math.floor(refuted * 1e4) / 1e4:.4f}" if refuted < math.inf else "infinite"
        allowed = "" if self.divergence is None else f"; {rounded_up(self.divergence)} is promised"
        return (
            f"The Renyi divergence of order {self.order:g} of the whole release is at least "
            f"{least}{allowed}. "
        )

    def _repr_html_(self) -> str:
        return (
            "<div class='pacsklearn-audit' style='max-width:60em;border:1px solid #8889;"
            "border-radius:4px;padding:.5em 1em;margin:.5em 0'>"
            f"<p><strong>{html.escape(self._title)}</strong></p>"
            f"{''.join(html_table(*part, _STYLE) for part in self._parts())}"
            f"<p>{html.escape(self._note)}</p></div>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary with the derived figures added, for JSON."""
        data = asdict(self) | {"passed": self.passed, "attack_level": self.attack_level}
        refuted = self.epsilon_refuted
        data["epsilon_refuted"] = None if refuted == math.inf else refuted
        for plain, point in zip(data["points"], self.points, strict=True):
            plain["true_positive_rate"] = list(point.true_positive_rate(self.attack_level))
            plain["false_positive_rate"] = list(point.false_positive_rate(self.attack_level))
            plain["allowed"] = point.allowed(self.attack_level)
            plain["violated"] = point.violates(self.attack_level)
        for plain, result in zip(data["results"], self.results, strict=True):
            plain["success"] = result.success
            plain["confidence_interval"] = list(self.interval(result))
            plain["violated"] = result.violates(self.attack_level)
        return data

    def to_json(self, **options: Any) -> str:
        """Write JSON text, which :meth:`from_json` reads. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read an audit that :meth:`to_json` wrote; derived figures are computed anew."""
        data = json.loads(text)
        parts = {
            "results": AttackResult,
            "curves": AttackROC,
            "provenance": Provenance,
            "points": OperatingPoint,
        }
        for name, kind in parts.items():
            data[name] = tuple(_read(kind, each) for each in data.get(name, ()))
        return _read(cls, data)


def _read(kind: type[T], data: dict[str, Any]) -> T:
    """Return an instance of a dataclass from plain data.

    Figures that are no fields are left out.
    """
    known = {each.name: data[each.name] for each in fields(kind) if each.name in data}  # type: ignore[arg-type]
    tuples = {name: tuple(each) for name, each in known.items() if isinstance(each, list)}
    return kind(**known | tuples)


def _cells(audit: Audit, result: AttackResult) -> Cells:
    low, high = audit.interval(result)
    allowed = "-" if result.bound is None else f"{math.ceil(result.bound * 1e4) / 100:.2f} %"
    verdict = "VIOLATED" if result.violates(audit.attack_level) else "not violated"
    return (
        result.attack,
        result.criterion,
        f"{100 * result.success:.2f} %",
        f"{math.floor(low * 1e4) / 100:.2f} to {math.ceil(high * 1e4) / 100:.2f} %",
        f"{100 * result.prior:.2f} %",
        allowed,
        "nothing promised" if result.bound is None else verdict,
    )


def _point_cells(audit: Audit, point: OperatingPoint) -> Cells:
    detected = point.true_positive_rate(audit.attack_level)
    alarms = point.false_positive_rate(audit.attack_level)
    allowed = point.allowed(audit.attack_level)
    verdict = "VIOLATED" if point.violates(audit.attack_level) else "not violated"
    return (
        point.attack,
        f"{100 * point.rate:g} %",
        f"{100 * alarms.low:.2f} to {100 * alarms.high:.2f} %",
        f"{100 * detected.low:.2f} to {100 * detected.high:.2f} %",
        "-" if allowed is None else f"{math.ceil(allowed * 1e4) / 100:.2f} %",
        "nothing promised" if allowed is None else verdict,
    )


def _table(rows: list[Cells]) -> str:
    """Return a table whose first row is its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(max(lines, key=len)), *lines[1:]])


def _words(audit: Audit, result: AttackResult) -> str:
    _, criterion, success, interval, _, allowed, _ = _cells(audit, result)
    return f"{criterion}: right in {success} of the rounds, interval {interval}, allowed {allowed}"
