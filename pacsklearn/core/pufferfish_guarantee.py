"""What a sliced Pufferfish release promises, in numbers and in words."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, final

from pacsklearn.core.event import Provenance
from pacsklearn.core.sliced_law import RenyiCosts
from pacsklearn.core.statement_rendering import as_html, as_text, rounded_up

__all__ = ["PufferfishGuarantee"]

_SENSES = {
    "average": "averaged over the slices",
    "joint": "for a slice drawn at random",
    "full": "for the whole release",
}


@final
@dataclass(frozen=True)
class PufferfishGuarantee:
    """The promise that comes with a sliced release. Prints as text and as HTML; round-trips JSON.

    Parameters
    ----------
    protects : str
        What is secret.
    releases : str
        What is released.
    definition : str
        What is bounded.
    budget, spent : float
        Renyi divergence that was allowed, and that is reached at most, by this release alone.
    unit : str
        Unit of the charge; charges add up within one unit only.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``: what the noise was calibrated to.
    costs : RenyiCosts
        Average, joint and full-view costs of the noise.
    bound : str
        Why they are bounds.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    assumptions : tuple of str
        What a confidence below 1 rests on.
    n_secrets, n_pairs, n_priors, n_draws : int
        Size of the scenario: secrets, pairs kept apart, priors, data sets a secret stands for.
    slices : str
        The slice profile.
    coupling : str
        How data sets of two secrets are compared.
    noise : str
        How the noise is shaped.
    noiseless : bool
        Whether all data sets give the same output, so that no noise was needed.
    charged : float
        On the ledger so far, this release included, in ``unit``.
    n_releases : int
        Releases on that ledger.
    released, public, not_covered, sources : tuple of str
        As in :class:`~pacsklearn.core.guarantee.Guarantee`.
    for_release : bool
        False when the noise can be predicted (``random_state``).
    provenance : tuple of Provenance
        Plugins involved.
    averaged_over : str
        What the bound is a mean over, when it is one.
    facts : tuple of (str, str)
        Further facts, by name: how a run of many steps was accounted for, say.
    holds_for : str
        Which tables the promise is for, where it is for tables drawn from stated laws.
    ledger_head : str
        As in :class:`~pacsklearn.core.guarantee.Guarantee`.
    """

    protects: str
    releases: str
    definition: str
    budget: float
    spent: float
    unit: str
    aggregation: str
    costs: RenyiCosts
    bound: str
    confidence: float
    assumptions: tuple[str, ...]
    n_secrets: int
    n_pairs: int
    n_priors: int
    n_draws: int
    slices: str
    coupling: str
    noise: str
    noiseless: bool
    charged: float
    n_releases: int
    released: tuple[str, ...]
    public: tuple[str, ...]
    not_covered: tuple[str, ...]
    sources: tuple[str, ...]
    for_release: bool
    provenance: tuple[Provenance, ...] = ()
    averaged_over: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    holds_for: str = ""
    ledger_head: str = ""

    framework = "Sliced Renyi Pufferfish"

    @property
    def status(self) -> str:
        """One line: how far the promise can be relied on."""
        if not self.for_release:
            return "NOT FOR RELEASE: the noise is reproducible (random_state was given)"
        if self.noiseless:
            return "NO NOISE: whatever the secret, the output is the same"
        sliced = "" if self.aggregation == "full" else ", sliced, not full"
        mean = f", a mean over {self.averaged_over}" if self.averaged_over else ""
        if self.confidence < 1:
            tables = f" for {self.holds_for}" if self.holds_for else ""
            return f"holds with confidence {self.confidence:.8g}{tables}{sliced}{mean}"
        return f"proved for the scenario's data sets{sliced}{mean}"

    @property
    def promise(self) -> str:
        """The promise in plain sentences."""
        order, cost = f"{self.costs.order:g}", rounded_up(self.spent, 4)
        what = {
            "average": (
                "along the slices, on average over them, the release changes with the secret by a "
                f"Renyi divergence of order {order} of at most {cost}"
            ),
            "joint": (
                "whoever sees one slice drawn at random, and which one, meets a Renyi divergence "
                f"of order {order} of at most {cost} between any two of these secrets"
            ),
            "full": (
                "whoever sees the whole release meets a Renyi divergence of order "
                f"{order} of at most {cost} between any two of these secrets"
            ),
        }[self.aggregation]
        text = (
            f"Secret is {self.protects}. Released is {self.releases}, with noise: {what}. The "
            "adversary may have unlimited computing power and know every data set of the scenario "
            "and the noise; how likely which secret is beforehand does not matter."
        )
        if self.averaged_over:
            text += f" This is a mean over {self.averaged_over}: single draws can tell more."
        if self.holds_for:
            text += f" This is for {self.holds_for}; nothing is promised about others."
        if self.aggregation != "full":
            epsilon, delta = rounded_up(self.costs.full_epsilon, 2), f"{self.costs.delta:g}"
            text += (
                " A slice is one direction of the released numbers; whoever has all of them is "
                f"bounded by the full view only: divergence {rounded_up(self.costs.full, 4)}, or "
                f"({epsilon}, {delta})."
            )
        return text

    def _rows(self) -> list[tuple[str, str]]:
        costs = self.costs
        exact = costs.full_is_exact or self.holds_for
        upper = "" if exact else " (distance bounded from above)"

        def both(view: str) -> str:
            cost, epsilon = costs.of(view), float(getattr(costs, f"{view}_epsilon"))
            best = "" if self.holds_for else " at the best order"
            return (
                f"({costs.order:g}, {rounded_up(cost, 4)}); "
                f"({rounded_up(epsilon, 3)}, {costs.delta:g}){best}"
            )

        return [
            (
                "spent",
                (
                    f"{rounded_up(self.spent, 6)} of {self.budget:.6g} nats of Renyi divergence "
                    f"of order {costs.order:g}, {_SENSES[self.aggregation]}"
                ),
            ),
            ("average over slices", both("average")),
            ("joint over slices", both("joint")),
            ("full view", both("full") + upper),
            ("worst slice", f"({costs.order:g}, {rounded_up(costs.worst_slice, 4)})"),
            ("slices", self.slices),
            (
                "scenario",
                (
                    f"{self.n_secrets} secrets, {self.n_pairs} pairs, {self.n_priors} prior(s), "
                    f"up to {self.n_draws} data sets a secret"
                ),
            ),
            ("comparison", self.coupling),
            ("noise", self.noise),
            ("bound", self.bound),
            *(("assumed", text) for text in self.assumptions),
            *self.facts,
            ("ledger", f"{self.charged:.6g} in {self.n_releases} release(s), unit {self.unit}"),
            ("released with noise", ", ".join(self.released) or "nothing"),
            ("public as it is", ", ".join(self.public) or "nothing"),
            ("sources", "; ".join(self.sources)),
            (
                "software",
                ", ".join(f"{p.name} ({p.distribution} {p.version})" for p in self.provenance),
            ),
        ]

    @property
    def _title(self) -> str:
        return f"{self.framework} guarantee: {self.status}"

    def __str__(self) -> str:
        return as_text(self._title, self.promise, self._rows(), self.not_covered)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.promise, self._rows(), self.not_covered)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON."""
        return {"framework": self.framework, **asdict(self)}

    def to_json(self, **options: Any) -> str:
        """JSON text; :meth:`from_json` reads it back. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    @classmethod
    def from_json(cls, text: str) -> PufferfishGuarantee:
        """Guarantee written by :meth:`to_json`."""
        data = json.loads(text)
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.items()
            if name in known
        }
        kept["costs"] = RenyiCosts(**data["costs"])
        kept["facts"] = tuple((name, text) for name, text in data.get("facts", ()))
        kept["provenance"] = tuple(Provenance(**entry) for entry in data.get("provenance", ()))
        return cls(**kept)
