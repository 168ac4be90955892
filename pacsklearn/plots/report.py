"""One page about a release: what, how private, against whom, how good, how attacked."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from typing import Any, final

from pacsklearn.audit.audit_record import Audit
from pacsklearn.audit.html_table import html_table
from pacsklearn.kernel.budget.nats import Nats
from pacsklearn.plots.display import Display
from pacsklearn.plots.noise_spectrum import NoiseSpectrum
from pacsklearn.plots.page import Page, filled
from pacsklearn.plots.privacy_statement import guarantee_of, privacy_statement
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve
from pacsklearn.universe.row_rules import title_of


@final
@dataclass(frozen=True, eq=False)
class PrivacyReport(Page):
    """A privacy statement that can be saved as a page and as data.

    Made by :func:`privacy_report`.

    Parameters
    ----------
    statement : dict
        The machine-readable privacy statement: plain data.
    figures : tuple of (str, str, bytes)
        Section, caption and PNG of each figure.
    blocks : tuple of (str, str)
        Section and HTML of each part.
    """

    statement: dict[str, Any]
    figures: tuple[tuple[str, str, bytes], ...] = field(repr=False)
    blocks: tuple[tuple[str, str], ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the privacy statement."""
        return self.statement

    def to_html(self) -> str:
        """Write one self-contained page: style, figures and data are inside, nothing is fetched."""
        return filled(
            "report.html",
            title=html.escape(self.statement["title"]),
            status=html.escape(self.statement["status"]),
            sections="".join(f"<h2>{html.escape(name)}</h2>{part}" for name, part in self.blocks),
            # Nothing inside the element may look like markup.
            data=self.to_json(indent=1).replace("<", "\\u003c"),
        )

    def _repr_html_(self) -> str:
        return "".join(f"<h3>{html.escape(name)}</h3>{part}" for name, part in self.blocks)


def privacy_report(
    source: Any,
    *,
    audit: Audit | None = None,
    curve: PrivacyUtilityCurve | None = None,
    spectrum: NoiseSpectrum | None = None,
    title: str | None = None,
    for_publication: bool = False,
) -> PrivacyReport:
    """Make one page about a release, and the same as data.

    What was released, the guarantee in plain words, the threat model, what is not covered, and the
    versions of everything involved. With ``curve``, ``spectrum`` and ``audit`` also how useful it
    is, how the noise is spread and what attacks achieved; those are functions of the rows without
    noise, in a section that is marked as the curator's.

    Parameters
    ----------
    source : PACPrivate, SRPPPrivate, PrivacySession, Release, DistilledModel or a guarantee
        Fitted or released. Only its guarantee, its class and what was charged are read: no row, no
        secret, no output.
    audit : Audit, optional
        What :func:`run_audit` returned.
    curve : PrivacyUtilityCurve, optional
        What :func:`privacy_utility_curve` returned.
    spectrum : NoiseSpectrum, optional
        As in ``NoiseSpectrumDisplay.from_estimator(...).spectrum``.
    title : str, optional
        What was released; the names of the classes when not given.
    for_publication : bool, default=False
        Leave the curator's section out.

    Returns
    -------
    PrivacyReport
        ``save("report.html")`` and ``to_json()`` give it away.

    Raises
    ------
    TypeError
        When ``source`` has no guarantee.

    Notes
    -----
    Figures need matplotlib; without it the page has tables only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import PACPrivate, Subsets
    >>> from pacsklearn.plots import privacy_report
    >>> X, y = load_iris(return_X_y=True)
    >>> report = privacy_report(PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y))
    >>> report.statement["guarantee"]["budget"]
    0.0625
    """
    guarantee = guarantee_of(source)
    if for_publication:
        # All three are functions of the rows, without noise.
        audit = curve = spectrum = None
    named = title or _title(source)
    statement = privacy_statement(source, title=named, audit=audit, curve=curve, spectrum=spectrum)
    figures = _figures(guarantee, audit, curve, spectrum)
    pictures = {section: _picture(caption, png) for section, caption, png in figures}
    promise = f"<p class='promise'>{html.escape(guarantee.promise)}</p>"
    promise += pictures.get("promise", "") + guarantee._repr_html_()
    blocks = [
        ("What is promised", promise),
        ("What was released", _released(statement)),
        ("Against whom", _list(statement["threat_model"])),
        ("What is not covered", _list(statement["not_covered"])),
    ]
    private = statement["curator_only"]
    if curve is not None:
        text = f"<p>{html.escape(private['utility']['caveat'])}</p>" + pictures.get("utility", "")
        text += f"<pre>{html.escape(str(curve))}</pre>"
        blocks.append(("Utility (curator only)", _marked(text)))
    if spectrum is not None:
        text = f"<p>{html.escape(private['noise_spectrum']['caveat'])}</p>"
        powers = [(n, f"{p:.4g}") for n, p in zip(spectrum.noises, spectrum.powers, strict=True)]
        text += pictures.get("spectrum", "") + html_table(("noise", "power"), powers)
        blocks.append(("Noise (curator only)", _marked(text)))
    if audit is not None:
        text = audit._repr_html_() + pictures.get("audit", "")
        blocks.append(("Audit (curator only)", _marked(text)))
    software = [(e["role"], e["name"], e["version"]) for e in statement["software"]]
    blocks.append(("Software", html_table(("role", "name", "version"), software)))
    return PrivacyReport(statement, figures, tuple(blocks))


def _title(source: Any) -> str:
    inside = title_of(getattr(source, "estimator", None))
    return f"{type(source).__name__}({inside})" if inside else type(source).__name__


def _released(statement: dict[str, Any]) -> str:
    released = statement["released"]
    facts = [
        ("with noise", ", ".join(released["with_noise"]) or "nothing"),
        ("public as it is", ", ".join(released["public"]) or "nothing"),
    ]
    events = [
        (
            str(number),
            event["kind"],
            f"{event['charge']:.6g} {event['unit']}",
            event["noise"],
            str(event["numbers"]),
        )
        for number, event in enumerate(released["releases"], start=1)
    ]
    text = html_table((), facts)
    if events:
        text += html_table(("release", "kind", "charged", "noise", "numbers"), events)
    return text


def _figures(
    guarantee: Any,
    audit: Audit | None,
    curve: PrivacyUtilityCurve | None,
    spectrum: NoiseSpectrum | None,
) -> tuple[tuple[str, str, bytes], ...]:
    try:
        import matplotlib.figure  # noqa: F401 - whether there is one
    except ImportError:
        return ()
    from pacsklearn.plots.audit import AuditDisplay
    from pacsklearn.plots.membership_bound import display_of
    from pacsklearn.plots.noise_spectrum import NoiseSpectrumDisplay
    from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay

    wanted: list[tuple[str, str, Display]] = []
    if guarantee.reached(Nats(1)):
        caption = "Bound on membership inference against the budget, and this guarantee"
        wanted.append(("promise", caption, display_of(guarantee)))
    if curve is not None:
        wanted.append(("utility", "Utility against the budget", PrivacyUtilityDisplay(curve=curve)))
    if spectrum is not None:
        caption = "Spread of the outputs and noise by direction"
        wanted.append(("spectrum", caption, NoiseSpectrumDisplay(spectrum=spectrum)))
    if audit is not None:
        wanted.append(("audit", "Success of attacks beside the bound", AuditDisplay(audit=audit)))
    return tuple((section, caption, display.png()) for section, caption, display in wanted)


def _picture(caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode("ascii")
    words = html.escape(caption)
    return f"<p><img alt='{words}' src='data:image/png;base64,{data}'></p>"


def _list(sentences: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in sentences) + "</ul>"


def _marked(part: str) -> str:
    return f"<div class='private'>{part}</div>"
