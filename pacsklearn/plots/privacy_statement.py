"""What was released and what was promised about it, as plain data."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from pacsklearn.audit.audit_record import CURATOR_ONLY as AUDIT_CAVEAT
from pacsklearn.audit.audit_record import Audit
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.plots.noise_spectrum import NoiseSpectrum
from pacsklearn.tabular.choosing.privacy_utility_curve import CURATOR_ONLY as CURVE_CAVEAT
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve

SCHEMA = "pacsklearn-privacy-statement/1"

_PACKAGES = ("pacsklearn", "scikit-learn", "numpy", "scipy", "opendp")


def guarantee_of(source: Any) -> Guarantee:
    """Return the guarantee of something fitted or released, or the guarantee itself.

    Raises
    ------
    TypeError
        When there is none.
    """
    held = (getattr(source, name, None) for name in ("guarantee_", "guarantee"))
    for candidate in (source, *held):
        if isinstance(candidate, Guarantee):
            return candidate
    raise TypeError(
        "source must be fitted by pacsklearn, a session, a release or a guarantee, got "
        f"{type(source).__name__}, which has no guarantee. Fit it first."
    )


def privacy_statement(
    source: Any,
    *,
    title: str,
    audit: Audit | None = None,
    curve: PrivacyUtilityCurve | None = None,
    spectrum: NoiseSpectrum | None = None,
) -> dict[str, Any]:
    """Return the machine-readable privacy statement.

    What it holds is said in :func:`privacy_report`.
    """
    guarantee = guarantee_of(source)
    statement: dict[str, Any] = {
        "schema": SCHEMA,
        "title": title,
        "released": {
            "what": title,
            "with_noise": list(guarantee.released),
            "public": list(guarantee.public),
            "releases": list(map(_event, _events(source))),
        },
        "guarantee": guarantee.to_dict(),
        "status": str(guarantee.status),
        "promise": guarantee.promise,
        "threat_model": list(guarantee.secret.threats),
        "not_covered": list(guarantee.not_covered),
        "software": _software(guarantee, audit),
        "curator_only": {},
    }
    private = statement["curator_only"]
    if curve is not None:
        private["utility"] = {
            "caveat": CURVE_CAVEAT,
            "estimator": curve.estimator,
            "scoring": curve.scoring,
            "noiseless_score": curve.noiseless_score,
            "all_rows_score": curve.all_rows_score,
            "points": [_finite(point.to_dict()) for point in curve.points],
        }
    if spectrum is not None:
        noises = zip(spectrum.noises, spectrum.powers, spectrum.noise_variances, strict=True)
        private["noise_spectrum"] = {
            "caveat": "For the curator: a function of the rows without noise.",
            "budget": spectrum.budget,
            "variances": list(spectrum.variances),
            "noise": {n: {"power": p, "variances": list(each)} for n, p, each in noises},
        }
    if audit is not None:
        private["audit"] = {"caveat": AUDIT_CAVEAT, **audit.to_dict()}
        # A curve is a picture; the counted successes are the finding.
        del private["audit"]["curves"]
    return json.loads(json.dumps(statement, allow_nan=False))


def _events(source: Any) -> tuple[Event, ...]:
    if isinstance(getattr(source, "event", None), Event):
        return (source.event,)
    ledger = getattr(source, "ledger", None)
    return tuple(getattr(ledger, "events", ()))


def _event(event: Event) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "charge": event.charge,
        "unit": event.unit,
        "noise": event.backend,
        "numbers": event.n_outputs,
        "confidence": event.confidence,
    }


def _software(guarantee: Guarantee, audit: Audit | None) -> list[dict[str, str]]:
    components = [{"name": "python", "version": platform.python_version(), "role": "interpreter"}]
    components += [
        {"name": name, "version": _version(name), "role": "library"} for name in _PACKAGES
    ]
    used: Iterable[Provenance] = guarantee.provenance
    components += [_plugin(each, "plugin") for each in dict.fromkeys(used)]
    if audit is not None:
        components += [_plugin(each, "attack") for each in dict.fromkeys(audit.provenance)]
    return components


def _plugin(provenance: Provenance, role: str) -> dict[str, str]:
    return {
        "name": provenance.name,
        "version": f"{provenance.distribution} {provenance.version}",
        "role": role,
        "target": provenance.target,
    }


def _version(name: str) -> str:
    if name == "pacsklearn":
        # Not imported: it names rooms above this one.
        return str(sys.modules["pacsklearn"].__version__)
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _finite(point: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == float("inf") else value for name, value in point.items()}
