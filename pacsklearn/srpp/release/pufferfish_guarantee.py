"""What a sliced Pufferfish release promises, in numbers, of its best attack too, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from pacsklearn._statement_layout import rows_of_kind
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.figure import Figure, confidence_figure
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up, rounded_up
from pacsklearn.kernel.guarantee.status import EMPTY_SUCCESS, Reliance, Status, relied_on
from pacsklearn.kernel.secret.stated_secret import StatedSecret
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.scenarios.stated_scenario import SecretBatches, SecretWorlds


@final
@dataclass(frozen=True)
class BayesSuccess:
    """Most that Bayes' rule achieves on one release, over the data sets that a scenario lists.

    Parameters
    ----------
    pair : float
        Telling the two secrets of the worst protected pair apart, each as likely beforehand, from
        the whole release: ``(1 + TV) / 2``, TV the total variation between its two laws.
    pair_slice : float
        The same from one slice drawn at random, seen with its direction.
    secret : float
        Naming the true one of all secrets, at their declared prior, from the whole release.
    secret_slice : float
        The same from one such slice.
    secret_blind : float
        The same without a look.
    confidence : float
        Probability that all of them are bounds; 1.0 where none takes draws.
    """

    pair: float
    pair_slice: float
    secret: float
    secret_slice: float
    secret_blind: float
    confidence: float


_VIEWS: Final = {
    "average": "on average over the slices",
    "joint": "for one slice drawn at random",
    "full": "for the whole release",
}
_OF_THESE = "not a bound for other tables of that law"


@final
@dataclass(frozen=True, repr=False, kw_only=True)
class PufferfishGuarantee(Guarantee):
    """The promise that comes with a sliced release. Prints as text and as HTML; round-trips JSON.

    Parameters
    ----------
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
    secret : SecretWorlds or SecretBatches
        What is secret: which secret of a scenario is true, or the same for a run of many steps.
    slices : str
        The slice profile.
    noise : str
        How the noise is shaped.
    noiseless : bool
        Whether no protected pair of secrets differs in the output, so that no noise was needed.
    charged : float
        On the ledger so far, this release included, in ``unit``.
    success : BayesSuccess, optional
        How often the best attack names the secret, over the listed worlds; None of a run of many
        steps.
    n_releases : int
        Releases on that ledger.
    released, public, not_covered, sources, not_for_release
        As in :class:`~pacsklearn.Guarantee`.
    provenance, details, ledger_head, headline
        As in :class:`~pacsklearn.Guarantee`.
    """

    secret: SecretWorlds
    releases: str
    aggregation: str
    costs: RenyiCosts
    assumptions: tuple[str, ...]
    slices: str
    charged: float
    success: BayesSuccess | None = None

    name = "Sliced Renyi Pufferfish"

    @classmethod
    def secret_kinds(cls) -> tuple[type[StatedSecret], ...]:
        """List the kinds: worlds, or batches of a run."""
        return SecretWorlds, SecretBatches

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is known of the scenario, or of the run, by name."""
        return tuple(self.secret.rows())

    @property
    def needs_consent(self) -> bool:
        """Whether a pair of secrets may be told apart in 99.99 % of cases or more."""
        return (self._pair_success or 0.0) >= EMPTY_SUCCESS

    @property
    def _pair_success(self) -> float | None:
        return self.secret.pair_success if self.success is None else self.success.pair

    def reached(self, limit: Budget) -> float | None:
        """Return the whole release's cost, where a budget bounds a divergence up to its order."""
        # A Renyi divergence does not fall with the order.
        comparable = limit.name == "renyi" and limit.get_params()["order"] <= self.costs.order
        return self.costs.full if comparable else None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Bounds and facts, each with its unit and what it means; the headline stands first."""
        costs, success = self.costs, self.success
        pair = named = "Not computed for a run of many steps."
        if success is not None:
            pair = (
                "Telling the worst pair of secrets apart, each as likely, from the whole release, "
                f"over the listed data sets, at confidence {success.confidence:.8g}."
            )
            named = "No adversary names the true secret more often."
        divergence = (
            f"Of order {costs.order:g}, {_VIEWS[self.aggregation]}, between what any two of "
            "the secrets would release."
        )
        epsilon = f"At delta {costs.delta:g}, between the same secrets."
        naming, blind = success and success.secret, success and success.secret_blind
        return (
            Figure("Renyi divergence", self.spent, "nats", divergence),
            Figure("success", success and success.pair, "share", pair, 0.5),
            Figure("naming the secret", naming, "share", named, blind),
            Figure("epsilon of the whole release", costs.full_epsilon, "epsilon", epsilon),
            *self.secret.figures,
            confidence_figure(self.confidence),
        )

    def _reliance(self) -> Status:
        if self.noiseless:
            return Status(Reliance.PROVED, "NO NOISE: no protected pair differs in the output")
        secret = self.secret
        pair = self._pair_success
        if pair is not None and self.needs_consent:
            who = "the best attack"
            if self.success is None:
                who = "an attack, for all that is proved,"
            why = f"{who} tells a pair of secrets apart in {percent_up(pair)} % of cases"
            return Status(Reliance.HIDES_NOTHING, why)
        sliced = "" if self.aggregation == "full" else ", sliced, not full"
        mean = f", a mean over {secret.averaged_over}" if secret.averaged_over else ""
        tables = f" for {secret.holds_for}" if secret.holds_for else ""
        proved = f"proved for the scenario's data sets{sliced}{mean}"
        return relied_on(self.confidence, proved, f"{tables}{sliced}{mean}")

    def _sentences(self) -> str:
        secret = self.secret
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
            f"Secret is {secret.protects}. Released is {self.releases}, with noise: {what}. The "
            "adversary may have unlimited computing power and know every data set of the scenario "
            "and the noise; how likely which secret is beforehand does not matter."
        )
        text += self._named()
        if secret.averaged_over:
            text += f" This is a mean over {secret.averaged_over}: single draws can tell more."
        if secret.holds_for:
            text += f" This is for {secret.holds_for}; nothing is promised about others."
        if self.aggregation != "full":
            epsilon, delta = rounded_up(self.costs.full_epsilon, 2), f"{self.costs.delta:g}"
            text += (
                " A slice is one direction of the released numbers; whoever has all of them is "
                f"bounded by the full view only: divergence {rounded_up(self.costs.full, 4)}, or "
                f"({epsilon}, {delta})."
            )
        return text

    def _named(self) -> str:
        """Return the sentence on the success of the best attack."""
        success = self.success
        if success is None:
            return ""
        limit = f"; {_OF_THESE}" if self.secret.holds_for else ""
        return (
            " Over the listed worlds the best attack on this release alone tells the worst pair of "
            f"these secrets apart, each as likely, in at most {percent_up(success.pair)} % of "
            "cases (50 % blindly), and names the true one of "
            f"{self.secret.n_secrets} secrets in at most "
            f"{percent_up(success.secret)} % ({percent_up(success.secret_blind)} % blindly){limit}."
        )

    @classmethod
    def _read(cls, facts: dict[str, Any]) -> dict[str, Any]:
        success = facts.get("success")
        return facts | {
            "costs": RenyiCosts(**facts["costs"]),
            "success": None if success is None else BayesSuccess(**success),
        }


def _attacks(guarantee: PufferfishGuarantee) -> Rows:
    """Return the rows of the text on the success of the best attack."""
    success = guarantee.success
    if success is None:
        return []
    sure = "" if success.confidence == 1 else f", at confidence {success.confidence:.8g}"
    limit = f" ({_OF_THESE})" if guarantee.secret.holds_for else ""

    def line(whole: float, one_slice: float, blind: float) -> str:
        return (
            f"at most {percent_up(whole)} % from the whole release, {percent_up(one_slice)} % "
            f"from one random slice and its direction, {percent_up(blind)} % blindly; over the "
            f"listed worlds{limit}{sure}"
        )

    naming = line(success.secret, success.secret_slice, success.secret_blind)
    pair = line(success.pair, success.pair_slice, 0.5)
    return [("telling a pair apart", pair), ("naming the secret", naming)]


@rows_of_kind.register
def _pufferfish_rows(guarantee: PufferfishGuarantee) -> tuple[Rows, Rows]:
    costs, drawn = guarantee.costs, guarantee.secret.holds_for
    upper = "" if costs.full_is_exact or drawn else " (distance bounded from above)"

    def both(view: str) -> str:
        cost, epsilon = costs.of(view), float(getattr(costs, f"{view}_epsilon"))
        best = "" if drawn else " at the best order"
        return (
            f"({costs.order:g}, {rounded_up(cost, 4)}); "
            f"({rounded_up(epsilon, 3)}, {costs.delta:g}){best}"
        )

    spent = (
        f"{rounded_up(guarantee.spent, 6)} of {guarantee.budget:.6g} nats of Renyi divergence of "
        f"order {costs.order:g}, {_VIEWS[guarantee.aggregation]}"
    )
    charged = f"{guarantee.charged:.6g} in {guarantee.n_releases} release(s)"
    about = [
        ("spent", spent),
        *_attacks(guarantee),
        ("average over slices", both("average")),
        ("joint over slices", both("joint")),
        ("full view", both("full") + upper),
        ("worst slice", f"({costs.order:g}, {rounded_up(costs.worst_slice, 4)})"),
        ("slices", guarantee.slices),
        *guarantee.facts,
    ]

    why = [
        *(("assumed", text) for text in guarantee.assumptions),
        *guarantee.details,
        ("ledger", f"{charged}, unit {guarantee.unit}"),
    ]
    return about, why
