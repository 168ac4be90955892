"""What a guarantee about subsets of the rows is about, with its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM, NAMING_AIM
from pacsklearn.kernel.guarantee.figure import Figure
from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up
from pacsklearn.kernel.secret.stated_secret import PREPARATION, Bounds, PACSecret, StatedAttack

SINGLE_ROWS: Final = (
    "Single outcomes: success is averaged over the secret and the noise; one particular "
    "release may tell more about one particular row than the average does."
)
CHOICES: Final = (
    "Choices made by looking at the private data (budget, hyper-parameters, features, "
    "which of several results to publish): each is a release of its own unless it happens "
    "inside the subsets or stays with the curator."
)


class RowsSecret(PACSecret):
    """A subset of the rows that was used.

    Attributes
    ----------
    n_rows : int
        Of the universe.
    """

    noun = "subset"
    even = "same membership bound"
    n_rows: int

    def promise(self, seen: str, bounds: Bounds) -> str:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{self.n_rows:,} rows, can tell whether any one {self._unit} was used with a success "
            f"of at most {percent_up(bounds.membership)} %; guessing blindly has "
            f"{percent_up(self.prior_membership)} %."
        )

    @property
    def question(self) -> str:
        return f"Telling whether one {self.unit} was used"

    @property
    def shares(self) -> float | str:
        """Share of the candidates that a unit is in, or the two that it may be."""
        prior = self.prior_membership
        return prior if abs(prior - 0.5) < 1e-12 else f"{1 - prior:.3g} or {prior:.3g}"

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (
            *super().figures,
            Figure("rate", self.shares, "", f"Share of the candidates that a {self.unit} is in."),
            Figure("records", self.n_rows, "count", "Rows of the table; the adversary knows them."),
        )

    def attacks(self, bounds: Bounds) -> tuple[StatedAttack, ...]:
        return (
            StatedAttack(MEMBERSHIP_AIM, self.prior_membership, bounds.membership),
            StatedAttack(NAMING_AIM, self.prior_identification, bounds.naming),
        )

    @property
    def _unit(self) -> str:
        return "row" if self.unit == "row" else "group of rows"


@final
@dataclass(frozen=True, kw_only=True)
class SecretRows(RowsSecret):
    """Which of a list of subsets of the rows was used.

    Parameters
    ----------
    n_candidates : int
        Subsets.
    entropy : float
        Nats needed to name the secret one.
    prior_identification : float
        Success of guessing it blindly: the largest prior weight.
    unit : str
        Unit of privacy: ``"row"`` or ``"group"``.
    n_rows, n_units : int
        Rows and units of privacy in the universe.
    prior_membership : float
        Success of guessing the membership of the least protected unit blindly.
    n_unprotected : int
        Units that are in all subsets or in none: their membership is no secret.
    known : tuple of (float, float)
        Entry k: blind success, before any release, at the membership of other units for an
        adversary who knows the subsets and the membership of k units; on average over units drawn
        uniformly, and at the worst unit for the k units that tell most about it.
    known_errors : tuple of float
        Standard errors of the first of these, where they are estimates.
    is_listed : bool
        Whether the list of subsets is public. No figure depends on it.
    dealt : str
        How units were put into the subsets, in words; no figure depends on it. Nothing where all
        of a class were dealt alike.
    """

    n_candidates: int
    entropy: float
    prior_identification: float
    unit: str
    n_rows: int
    n_units: int
    prior_membership: float
    n_unprotected: int = 0
    known: tuple[tuple[float, float], ...] = ()
    known_errors: tuple[float, ...] = ()
    is_listed: bool = True
    dealt: str = ""

    name = "rows"
    is_searched = True
    threats = (
        "The adversary has unlimited computing power.",
        (
            "The adversary knows every row of the universe, the list of candidate subsets, how "
            "likely each is, the estimator with its parameters, all public seeds and the law of "
            "the noise."
        ),
        "The adversary sees everything that was released, and may have chosen what to ask.",
        "Hidden is which candidate subset was drawn, once, by the operating system's generator.",
    )
    limits = (
        (
            "Which rows exist: the adversary is assumed to know all rows of the universe and the "
            "list of candidate subsets; hidden is only which candidate was used. The shape of the "
            "noise, the alignment, the metric and whatever all candidates agree on are functions "
            "of the universe; so are the list, and what it tells who knows some memberships, where "
            "it is dealt in blocks of similar rows."
        ),
        SINGLE_ROWS,
        (
            "Other fits: every fit draws its own secret and spends its own budget. What several "
            "fits on the same rows reveal together is bounded only when they share one session."
        ),
        PREPARATION,
        CHOICES,
    )

    @property
    def exceptions(self) -> str:
        # A unit in all subsets or in none has nothing to hide, and the promise says so.
        if not self.n_unprotected:
            return ""
        return (
            f"This does not hold for {self.n_unprotected:,} {self._unit}(s) that all candidate "
            "subsets contain, or none: their membership is public."
        )

    def rows(self, bounds: Bounds) -> Rows:
        rate = 1 - self.prior_membership
        inclusion = (
            f"each {self.unit} is in {rate:.3g} or {self.prior_membership:.3g} of them"
            if abs(rate - 0.5) > 1e-12
            else f"each {self.unit} is in half of them"
        )
        listed = (
            "public: who knows a few memberships can look the others up in it"
            if self.is_listed
            else "drawn in secret; every figure is that of an adversary who knows it"
        )
        return [
            ("secret", f"1 of {self.n_candidates} subsets ({self.entropy:.4g} nats); {inclusion}"),
            ("naming the subset", f"at most {percent_up(bounds.naming)} %"),
            ("list of subsets", f"{self.dealt}; {listed}" if self.dealt else listed),
        ]
