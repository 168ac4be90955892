"""One page about a release: what, how private, against whom, how good, how attacked."""

from __future__ import annotations

import base64
import html
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, final

from pacsklearn.audit.audit_record import Audit
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.statement_rendering import html_table
from pacsklearn.plots.noise_spectrum import NoiseSpectrum
from pacsklearn.plots.palette import STYLE
from pacsklearn.plots.privacy_statement import guarantee_of, privacy_statement
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin-bottom:.2rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #8886}
table{border-collapse:collapse;font-size:.92rem;display:block;overflow-x:auto}
th,td{text-align:left;vertical-align:top;padding:.15rem 1rem .15rem 0}
pre{font-size:.8rem;overflow-x:auto;background:#8882;padding:.7rem}
img{max-width:100%;height:auto}
.status{font-weight:600}
.promise{font-size:1.08rem}
.private{border-left:.35rem solid #D55E00;padding-left:1rem}
@page{margin:18mm 16mm}
@media print{
:root{color-scheme:light}
body{font-size:10.5pt;max-width:none;margin:0;padding:0}
h2{break-after:avoid}
img,tr,li{break-inside:avoid}
pre{white-space:pre-wrap;font-size:6.4pt}
table{display:table;overflow:visible}
}
"""


@final
@dataclass(frozen=True, eq=False)
class PrivacyReport:
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

    def to_json(self, **options: Any) -> str:
        """The privacy statement as JSON text. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.statement, allow_nan=False, **options)

    def to_html(self) -> str:
        """One self-contained page: style, figures and data are inside, nothing is fetched."""
        sections = "".join(f"<h2>{html.escape(name)}</h2>{part}" for name, part in self.blocks)
        title = html.escape(self.statement["title"])
        # Nothing inside the element may look like markup.
        data = self.to_json(indent=1).replace("<", "\\u003c")
        return (
            "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width,initial-scale=1'>"
            f"<title>Privacy report: {title}</title><style>{_STYLE}</style></head><body>"
            f"<h1>Privacy report: {title}</h1>"
            f"<p class='status'>{html.escape(self.statement['status'])}</p>{sections}"
            f"<script type='application/json' id='privacy-statement'>{data}</script>"
            "</body></html>"
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it: a page for ``.html``, the statement alone for ``.json``.

        Parameters
        ----------
        path : str or path-like
            A file that is there is replaced.

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            When the name ends otherwise.
        """
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in {".html", ".htm", ".json"}:
            raise ValueError(f"path must end in .html or .json, got {target.name!r}.")
        text = self.to_json(indent=1) if kind == ".json" else self.to_html()
        target.write_text(text, encoding="utf-8")
        return target

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
    """One page about a release, and the same as data.

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
    >>> from pacsklearn import PACPrivate, privacy_report
    >>> X, y = load_iris(return_X_y=True)
    >>> report = privacy_report(PACPrivate(RidgeClassifier(), n_subsets=16).fit(X, y))
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
    blocks = [
        (
            "What is promised",
            f"<p class='promise'>{html.escape(guarantee.promise)}</p>"
            + pictures.get("promise", "")
            + guarantee._repr_html_(),
        ),
        ("What was released", _released(statement)),
        ("Against whom", _list(statement["threat_model"])),
        ("What is not covered", _list(statement["not_covered"])),
    ]
    private = statement["curator_only"]
    if curve is not None:
        text = f"<p>{html.escape(private['utility']['caveat'])}</p>" + pictures.get("utility", "")
        blocks.append(("Utility (curator only)", _marked(f"{text}<pre>{_text(curve)}</pre>")))
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
    inner = getattr(source, "estimator", None)
    steps = [step for _, step in getattr(inner, "steps", [("", inner)])]
    names = [type(step).__name__ for step in steps if step not in (None, "passthrough")]
    inside = " + ".join(names)
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
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        return ()
    from pacsklearn.plots.audit import AuditDisplay
    from pacsklearn.plots.membership_bound import MembershipBoundDisplay
    from pacsklearn.plots.noise_spectrum import NoiseSpectrumDisplay
    from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay

    wanted: list[tuple[str, str, tuple[float, float], int, Callable[[Any], Any]]] = []
    if isinstance(guarantee, Guarantee) and guarantee.information > 0:
        caption = "Bound on membership inference against the budget, and this guarantee"
        bound = partial(MembershipBoundDisplay.from_guarantee, guarantee)
        wanted.append(("promise", caption, (7, 4), 1, lambda ax: bound(ax=ax)))
    if curve is not None:
        caption = "Utility against the budget"
        wanted.append(("utility", caption, (7, 4.5), 1, PrivacyUtilityDisplay(curve=curve).plot))
    if spectrum is not None:
        caption = "Spread of the outputs and noise by direction"
        display = NoiseSpectrumDisplay(spectrum=spectrum)
        wanted.append(("spectrum", caption, (10, 4.4), 2, display.plot))
    if audit is not None:
        caption = "Success of attacks beside the bound"
        height = max(3.8, 1.6 + 0.55 * len(audit.results))
        wanted.append(("audit", caption, (10.5, height), 2, AuditDisplay(audit=audit).plot))
    figures = []
    for section, caption, size, columns, draw in wanted:
        # Not by pyplot: a report leaves no figure open and no backend chosen.
        figure = Figure(figsize=size, layout="constrained", facecolor="none")
        with rc_context(STYLE):
            draw(figure.subplots(1, columns))
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        figures.append((section, caption, stream.getvalue()))
    return tuple(figures)


def _picture(caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode("ascii")
    words = html.escape(caption)
    return f"<p><img alt='{words}' src='data:image/png;base64,{data}'></p>"


def _list(sentences: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in sentences) + "</ul>"


def _marked(part: str) -> str:
    return f"<div class='private'>{part}</div>"


def _text(value: Any) -> str:
    return html.escape(str(value))
