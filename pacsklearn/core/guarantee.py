"""What a release promises, in numbers and in words."""

from __future__ import annotations

import html
import json
import math
import textwrap
from dataclasses import asdict, dataclass, fields
from typing import Any, final

from pacsklearn.core.event import Provenance
from pacsklearn.information.dp_equivalent import dp_epsilon
from pacsklearn.information.posterior_success import posterior_success

__all__ = ["Guarantee"]


@final
@dataclass(frozen=True)
class Guarantee:
    """The promise that comes with a release. Prints as text and as HTML; round-trips JSON.

    Parameters
    ----------
    framework : str
        ``"PAC privacy"``.
    definition : str
        What is bounded.
    budget, spent : float
        What was allowed and what is revealed at most, in ``unit``: by this release together with
        those before it in its session.
    unit : str
        ``"nats"``.
    bound : str
        Why the spent figure is a bound.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    secret_entropy : float
        Nats needed to name the secret subset.
    n_subsets, n_units, n_rows : int
        Candidate subsets; units of privacy and rows in the universe.
    privacy_unit : str
        ``"row"`` or ``"group"``.
    prior_membership : float
        Success of guessing the membership of the least protected unit blindly.
    n_unprotected : int
        Units that are in all candidate subsets or in none: their membership is no secret.
    released : tuple of str
        What came out of the noisy vector.
    public : tuple of str
        What was released as it is because it is public or does not depend on the data.
    not_covered : tuple of str
        What the promise does not say.
    sources : tuple of str
        Theorems behind the bounds.
    noise : str
        Noise backend.
    noiseless : bool
        Whether the budget covers the whole secret, so that no noise was added.
    for_release : bool
        False when the noise can be predicted (``random_state``).
    provenance : tuple of Provenance
        Plugins involved.
    prior_identification : float, optional
        Success of guessing the secret subset blindly: the largest prior weight. When not given it
        is ``1 / n_subsets`` if ``secret_entropy`` says that all are equally likely, else 1.
    n_releases : int
        Releases of the session so far, this one included; all figures are about them together.
    metered : float, optional
        Nats charged so far, where steps depend on the ones before them. It is not a bound: the
        bound is ``spent``, which holds whatever the session went on to release.
    details : tuple of (str, str)
        Further facts, by name, for the text.
    """

    framework: str
    definition: str
    budget: float
    spent: float
    unit: str
    bound: str
    confidence: float
    secret_entropy: float
    n_subsets: int
    n_units: int
    n_rows: int
    privacy_unit: str
    prior_membership: float
    n_unprotected: int
    released: tuple[str, ...]
    public: tuple[str, ...]
    not_covered: tuple[str, ...]
    sources: tuple[str, ...]
    noise: str
    noiseless: bool
    for_release: bool
    provenance: tuple[Provenance, ...] = ()
    prior_identification: float | None = None
    n_releases: int = 1
    metered: float | None = None
    details: tuple[tuple[str, str], ...] = ()

    @property
    def posterior_membership(self) -> float:
        """Most that any adversary's success at a unit's membership can be, after the release."""
        return posterior_success(self.spent, self.prior_membership)

    @property
    def posterior_identification(self) -> float:
        """Most that any adversary's success at naming the secret subset can be."""
        prior = self.prior_identification
        if prior is None:
            uniform = self.secret_entropy >= math.log(self.n_subsets) * (1 - 1e-13)
            prior = 1 / self.n_subsets if uniform else 1.0
        return posterior_success(self.spent, prior)

    def dp_epsilon(self, delta: float = 0.0) -> float:
        """Epsilon of an (epsilon, delta)-DP mechanism with the same membership bound.

        Source: pac-private-algorithms, equation 2. The two notions protect different things: this
        compares their membership bounds, it does not make the release differentially private.
        """
        return dp_epsilon(self.posterior_membership, delta)

    @property
    def status(self) -> str:
        """One line: how far the promise can be relied on."""
        if not self.for_release:
            return "NOT FOR RELEASE: the noise is reproducible (random_state was given)"
        if self.noiseless and self.spent > 0:
            return "NO NOISE: the budget covers the whole secret, so nothing is hidden"
        if self.confidence < 1:
            return f"holds with confidence {self.confidence:.8g}"
        return "proved"

    @property
    def promise(self) -> str:
        """The promise in one plain sentence."""
        rows = "row" if self.privacy_unit == "row" else "group of rows"
        seen = "this release"
        if self.n_releases > 1:
            seen = f"all {self.n_releases} releases of this session so far"
        text = (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{self.n_rows:,} rows, can tell whether any one {rows} was used with a success of at "
            f"most {_percent_up(self.posterior_membership)} %; guessing blindly has "
            f"{_percent_up(self.prior_membership)} %."
        )
        if self.n_unprotected:
            text += (
                f" This does not hold for {self.n_unprotected:,} {rows}(s) that all candidate "
                "subsets contain, or none: their membership is public."
            )
        return text

    def _rows(self) -> list[tuple[str, str]]:
        epsilon = self.dp_epsilon()
        same = "no finite epsilon" if epsilon == float("inf") else f"{_up(epsilon)}-DP"
        rate = 1 - self.prior_membership
        inclusion = (
            f"each {self.privacy_unit} is in {rate:.3g} or {self.prior_membership:.3g} of them"
            if abs(rate - 0.5) > 1e-12
            else f"each {self.privacy_unit} is in half of them"
        )
        charged = (
            () if self.metered is None else (("charged so far", f"{self.metered:.6g} {self.unit}"),)
        )
        return [
            ("spent", f"{self.spent:.6g} of {self.budget:.6g} {self.unit} of mutual information"),
            *charged,
            *self.details,
            ("same membership bound", f"{same} (a comparison, not a claim of DP)"),
            (
                "secret",
                f"1 of {self.n_subsets} subsets ({self.secret_entropy:.4g} nats); {inclusion}",
            ),
            ("naming the subset", f"at most {_percent_up(self.posterior_identification)} %"),
            ("unit of privacy", self.privacy_unit),
            ("noise", self.noise),
            ("bound", self.bound),
            ("released with noise", ", ".join(self.released) or "nothing"),
            ("public as it is", ", ".join(self.public) or "nothing"),
            ("sources", "; ".join(self.sources)),
            (
                "software",
                ", ".join(f"{p.name} ({p.distribution} {p.version})" for p in self.provenance),
            ),
        ]

    def __str__(self) -> str:
        lines = [f"{self.framework} guarantee: {self.status}", ""]
        lines += textwrap.wrap(self.promise, 88, initial_indent="  ", subsequent_indent="  ")
        lines.append("")
        for name, value in self._rows():
            lines += textwrap.wrap(
                value,
                88,
                initial_indent=f"  {name:<23}",
                subsequent_indent=" " * 25,
                break_on_hyphens=False,
            )
        lines.append("  not covered")
        for sentence in self.not_covered:
            lines += textwrap.wrap(sentence, 88, initial_indent="    - ", subsequent_indent=" " * 6)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top;padding-right:1em'>"
            f"{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        limits = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.not_covered)
        return (
            "<div class='pacsklearn-guarantee' style='max-width:52em;border:1px solid #8889;"
            "border-radius:4px;padding:.5em 1em;margin:.5em 0'>"
            f"<p><strong>{html.escape(self.framework)} guarantee: {html.escape(self.status)}"
            f"</strong></p><p>{html.escape(self.promise)}</p><table>{rows}</table>"
            f"<details><summary>What is not covered</summary><ul>{limits}</ul></details></div>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary with the derived bounds added, for JSON."""
        data = asdict(self)
        data["posterior_membership"] = self.posterior_membership
        data["posterior_identification"] = self.posterior_identification
        return data

    def to_json(self, **options: Any) -> str:
        """JSON text; :meth:`from_json` reads it back. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    @classmethod
    def from_json(cls, text: str) -> Guarantee:
        """Guarantee written by :meth:`to_json`; derived bounds are computed anew."""
        data = json.loads(text)
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.items()
            if name in known
        }
        kept["details"] = tuple((name, text) for name, text in data.get("details", ()))
        kept["provenance"] = tuple(Provenance(**entry) for entry in data.get("provenance", ()))
        return cls(**kept)


def _percent_up(share: float) -> str:
    """Per cent with two decimals, rounded up so that the text never promises too much."""
    return f"{min(_ceil(share * 100, 2), 100.0):.2f}"


def _up(value: float) -> str:
    return f"{_ceil(value, 3):.3f}"


def _ceil(value: float, decimals: int) -> float:
    scale = 10**decimals
    # Rounding of the products: 50 % computed as 50.000000000000007 must print as 50.00.
    return float(-(-(value * scale - 1e-10) // 1) / scale)
