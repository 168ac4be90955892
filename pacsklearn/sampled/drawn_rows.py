"""The secret of a guarantee: a subset drawn from all balanced ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up
from pacsklearn.kernel.secret.secret_rows import CHOICES, SINGLE_ROWS, RowsSecret
from pacsklearn.kernel.secret.stated_secret import PREPARATION, Bounds


@final
@dataclass(frozen=True, kw_only=True)
class DrawnRows(RowsSecret):
    """Which of all balanced subsets of the rows was used; they cannot be listed.

    Parameters
    ----------
    entropy : float
        Nats needed to name the secret one.
    least_log : float
        Minus the logarithm of the likeliest subset's probability.
    unit : str
        Unit of privacy: ``"row"`` or ``"group"``.
    n_rows, n_units : int
        Rows and units of privacy in the universe.
    rate : float
        Probability that a unit is in.
    known : tuple of (float, float)
        As in :class:`~pacsklearn.kernel.secret.secret_rows.SecretRows`; exact.
    dealt : str
        As there.
    """

    entropy: float
    least_log: float
    unit: str
    n_rows: int
    n_units: int
    rate: float
    known: tuple[tuple[float, float], ...] = ()
    dealt: str = ""

    known_errors = ()
    name = "drawn-rows"
    n_candidates = None
    threats = (
        "The adversary has unlimited computing power.",
        (
            "The adversary knows every row of the universe, how the secret subset is drawn, all "
            "trial subsets, the estimator with its parameters, all public seeds and the law of "
            "the noise."
        ),
        "The adversary sees everything that was released, and may know some rows' membership.",
        (
            "Hidden is which subset was drawn, once, by the operating system's generator, from all "
            "that hold the stated share of every class, and of every block where it has blocks."
        ),
    )
    limits = (
        (
            "Which rows exist: the adversary is assumed to know all rows of the universe and how "
            "the subset is drawn. The centre and the shape of the noise, the alignment, the "
            "metric, blocks of rows and whatever all trials agree on are functions of the universe."
        ),
        (
            "A bad draw of trials: the bound is a confidence statement about trials that are "
            "independent of the secret. Choosing among seeds or several fits after looking at "
            "their noise voids it."
        ),
        (
            "Far models: one beyond the guard is replaced by the nearest point towards the "
            "centre, and where the fit fails, has another structure or takes too long, by the "
            "centre; directions in which no calibration trial moved are not released."
        ),
        SINGLE_ROWS,
        (
            "Other fits: every fit draws its own secret and spends its own budget. Releases about "
            "one secret are planned together, in one session."
        ),
        PREPARATION,
        CHOICES,
    )

    @property
    def prior_membership(self) -> float:  # type: ignore[override]
        """Success of guessing a unit's membership blindly."""
        return max(self.rate, 1 - self.rate)

    @property
    def shares(self) -> float:
        """Share of the candidates that a unit is in."""
        return self.rate

    @property
    def prior_identification(self) -> float:  # type: ignore[override]
        """Success of naming the subset blindly."""
        return math.exp(-self.least_log)

    @property
    def intrinsic_privacy(self) -> float | None:
        """None: it compares with a uniform choice from a list."""
        return None

    def rows(self, bounds: Bounds) -> Rows:
        share = "half" if self.rate == 0.5 else f"{self.rate:.3g}"
        dealt = f", {self.dealt}" if self.dealt else ""
        secret = (
            f"drawn afresh from all subsets that hold {share} of every class{dealt} "
            f"({self.entropy:.4g} nats); there is no list of candidates"
        )
        naming = f"at most {percent_up(bounds.naming)} %"
        return [("secret", secret), ("naming the subset", naming)]
