"""How many rows of a batch the secret may change."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn._validation import as_probability, check_choice, check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.divergence import discrepancy as counts
from pacsklearn.srpp.release.events import GradientSteps
from pacsklearn.trials.mean_bound import upper_mean_bound

# Figures of one law may differ so much, by its rounding: far below what any price depends on.
_ROUNDING: Final = 1e-6
RECORDED: Final = (
    *("n_rows", "batch_size", "sampling", "largest", "second_moment"),
    *("tail", "failure", "mean_over_data"),
)
"""Figures that an event of a ledger holds under the same names, beside the law."""


@final
@dataclass(frozen=True, eq=False, init=False)
class DiscrepancyCap:
    """Bounds on the number of differing rows in a batch of SGD.

    Made by one of the class methods alone, so that its figures are those of a law; two data sets
    are compared row by row.

    Attributes
    ----------
    n_rows, batch_size : int
        Of the data, and of a batch (on average, for Poisson batches).
    sampling : str
        One of :data:`~pacsklearn.srpp.divergence.discrepancy.SAMPLINGS`.
    largest : int
        Most differing rows in a batch.
    second_moment : float
        Mean square of their number.
    log_law : ndarray of shape (largest + 1,)
        Logarithms of the probabilities of 0, 1, ... of them, for the worst pair of data sets; None
        where only the second moment is known.
    tail : float
        Probability, in every step, with which ``largest`` is exceeded at most.
    failure : float
        Probability with which drawing samples beforehand gave bounds that are wrong.
    source : str
        Where the bounds come from.
    mean_over_data : bool
        Whether the mean is taken over coupled data sets too, not over batches alone.

    Examples
    --------
    >>> cap = DiscrepancyCap.differing(50_000, 20, 512)
    >>> cap.largest, round(cap.second_moment, 4)
    (20, 0.2446)
    """

    n_rows: int
    batch_size: int
    sampling: str
    largest: int
    second_moment: float
    log_law: Floats | None = field(default=None, repr=False)
    tail: float = 0.0
    failure: float = 0.0
    source: str = ""
    mean_over_data: bool = False

    @classmethod
    def differing(
        cls,
        n_rows: int,
        n_differing: int,
        batch_size: int,
        sampling: str = "without-replacement",
    ) -> DiscrepancyCap:
        """Bound data sets that differ in up to ``n_differing`` rows (localized influence, D.4)."""
        law = counts.discrepancy_log_law(n_rows, n_differing, batch_size, sampling)
        names = ("hypergeometric", "binomial over the draws", "binomial over the differing rows")
        return cls._of(
            n_rows=n_rows,
            batch_size=batch_size,
            sampling=sampling,
            largest=law.size - 1,
            second_moment=counts.second_moment(n_rows, n_differing, batch_size, sampling),
            log_law=law,
            source=f"at most {n_differing:,} of {n_rows:,} rows differ; "
            + names[counts.SAMPLINGS.index(sampling)],
        )

    @classmethod
    def of_variation(
        cls,
        variation: float,
        n_rows: int,
        batch_size: int,
        sampling: str = "without-replacement",
        *,
        delta: float = 1e-6,
    ) -> DiscrepancyCap:
        """Return the cap for independent rows with laws at most ``variation`` apart.

        Parameters
        ----------
        variation : float
            Total variation distance of one row's laws, over all priors and pairs of secrets.
        delta : float, default=1e-6
            Probability, in every step, with which ``largest`` is exceeded.
        """
        most = counts.variation_tail(variation, n_rows, batch_size, sampling, delta)
        moment = counts.variation_second_moment(variation, n_rows, batch_size, sampling)
        source = f"independent rows, total variation at most {variation:g}"
        return cls._bounded((n_rows, batch_size, sampling), (most, delta), moment, source)

    @classmethod
    def sampled(
        cls,
        draws: ArrayLike,
        n_rows: int,
        batch_size: int,
        sampling: str = "without-replacement",
        *,
        delta: float = 0.01,
        gamma: float = 1e-6,
    ) -> DiscrepancyCap:
        """Bound by simulated counts (srpp, appendix D.2), for all priors and pairs at once.

        Parameters
        ----------
        draws : array-like of int, shape (n_draws,) or (n_families, n_draws)
            Independent counts: coupled data sets and a batch were drawn for each. One row for each
            prior and pair of secrets.
        delta : float, default=0.01
            Probability, in every step, with which ``largest`` is exceeded.
        gamma : float, default=1e-6
            Probability that any of the bounds is wrong. It is divided by the number of families,
            and by two: one half for the tails and one for the second moments.

        Notes
        -----
        Batches of one size have one law, so one estimate serves all steps and ``gamma`` counts once
        a run; the tail counts in every step.
        """
        families = np.atleast_2d(np.asarray(draws))
        most = counts.largest_batch(n_rows, batch_size, sampling)
        share = gamma / (2 * families.shape[0])
        largest = max(counts.sampled_tail(f, most, delta, share) for f in families)
        return cls._bounded(
            (n_rows, batch_size, sampling),
            (largest, delta),
            max(counts.sampled_second_moment(f, most, share) for f in families),
            f"{families.shape[1]:,} simulated batches for each of {families.shape[0]} prior(s) "
            "and pair(s)",
            failure=gamma,
        )

    @classmethod
    def coupled(
        cls,
        differing: ArrayLike,
        n_rows: int,
        batch_size: int,
        sampling: str = "without-replacement",
        *,
        seed: int = 0,
        delta: float = 0.01,
        gamma: float = 1e-6,
    ) -> DiscrepancyCap:
        """Bound by simulated data sets (srpp, Algorithms 3 and 4): a batch is drawn for each.

        Parameters
        ----------
        differing : array-like of int, shape (n_draws,) or (n_families, n_draws)
            In how many rows the data sets of each coupled draw differ; one row of the array for
            each prior and pair of secrets.
        seed : int, default=0
            Public seed of the batches.
        delta, gamma : float
            As for :meth:`sampled`.

        Examples
        --------
        >>> cap = DiscrepancyCap.coupled(np.full(100_000, 20), 50_000, 512)
        >>> 0.2446 < cap.second_moment < 50
        True
        """
        families = np.atleast_2d(np.asarray(differing, dtype=np.int64))
        generator = np.random.default_rng(seed)
        # First: it checks what the draws below take as it is.
        squares = np.array(
            [counts.second_moment(n_rows, d, batch_size, sampling) for d in range(n_rows + 1)]
        )
        if sampling == "without-replacement":
            draws = generator.hypergeometric(families, n_rows - families, batch_size)
        elif sampling == "with-replacement":
            draws = generator.binomial(batch_size, families / n_rows)
        else:
            draws = generator.binomial(families, batch_size / n_rows)
        cap = cls.sampled(draws, n_rows, batch_size, sampling, delta=delta, gamma=gamma)
        # Given the data sets the mean square is known: only they are left to be sampled.
        share = gamma / (2 * families.shape[0])
        moment = max(upper_mean_bound(squares[f], 0.0, squares[-1], share) for f in families)
        return cls._of(**vars(cap) | {"second_moment": min(moment, cap.second_moment)})

    @classmethod
    def recorded(cls, event: GradientSteps) -> DiscrepancyCap:
        """Read the bounds that an event of a ledger was priced with, to price it again.

        Parameters
        ----------
        event : GradientSteps

        Raises
        ------
        ValueError
            When its figures are not those of its law.
        """
        logs = event.log_law
        return cls._of(
            **{name: getattr(event, name) for name in RECORDED},
            log_law=None if logs is None else np.array([-np.inf if e is None else e for e in logs]),
            source="an event of a ledger",
        )

    def believed(self, other: DiscrepancyCap) -> DiscrepancyCap:
        """Take these bounds, which cover the others, as likely to hold as those are at least.

        Parameters
        ----------
        other : DiscrepancyCap
            What is known about the data sets; where that was drawn, these bounds are no surer,
            but for the law of a known number of rows, which :meth:`covers` lets pass for all rows.
        """
        if other.failure <= self.failure or self.log_law is not None:
            return self
        source = f"{self.source}; checked by {other.source}"
        return self._of(**vars(self) | {"failure": other.failure, "source": source})

    def covers(self, other: DiscrepancyCap, rounding: float = 1e-9) -> bool:
        """Say whether bounds for the other one hold for this one: its count is no smaller.

        Parameters
        ----------
        other : DiscrepancyCap
            With a known law, or with its second moment alone.
        rounding : float
            Relative error allowed for.
        """
        # On its own account: means are priced from it, whatever the tails are.
        if self.second_moment < other.second_moment * (1 - rounding):
            return False
        ours, theirs = self.law, other.law
        if theirs is None and ours is None:
            return self.largest >= other.largest and self.tail >= other.tail
        if theirs is None:
            # No law is known to be above the other one's but that of data sets without a row in
            # common: draws say nothing of counts that are rarer than one in all of them.
            batches = self.batch_size, self.sampling
            apart = DiscrepancyCap.differing(self.n_rows, self.n_rows, *batches)
            return self.covers(apart, rounding)
        beyond = float(theirs[self.largest + 1 :].sum())
        if ours is None:
            return beyond <= self.tail * (1 + rounding)
        size = max(ours.size, theirs.size)
        tails = [np.cumsum(np.pad(law, (0, size - law.size))[::-1])[::-1] for law in (ours, theirs)]
        # By tails: prices grow with the count, so a count that is larger in law is a safe one.
        return bool(np.all(tails[0] >= tails[1] * (1 - rounding) - 1e-15))

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError(
            "The figures of a DiscrepancyCap follow from a law and are not set one by one, nor "
            "replaced; make it by DiscrepancyCap.differing(n_rows, n_differing, batch_size), "
            "of_variation, sampled or coupled."
        )

    @classmethod
    def _bounded(
        cls,
        batches: tuple[int, int, str],
        tail: tuple[int, float],
        second_moment: float,
        source: str,
        *,
        failure: float = 0.0,
    ) -> DiscrepancyCap:
        """Return cap for coupled data sets whose law is not known: on a tail and a mean square."""
        (n_rows, batch_size, sampling), (largest, chance) = batches, tail
        if largest >= counts.largest_batch(n_rows, batch_size, sampling):
            chance = 0.0  # no batch holds more rows
        else:
            source += f"; more rows with probability {chance:g} in every step at most"
        return cls._of(
            n_rows=n_rows,
            batch_size=batch_size,
            sampling=sampling,
            # Where a row may differ at all, however rarely, there is something to hide.
            largest=max(largest, int(second_moment > 0)),
            second_moment=second_moment,
            tail=chance,
            failure=failure,
            source=source,
            mean_over_data=True,
        )

    @classmethod
    def _of(cls, **figures: Any) -> DiscrepancyCap:
        cap = object.__new__(cls)
        cap.__setstate__(figures)
        return cap

    def __setstate__(self, figures: dict[str, Any]) -> None:
        """Restore a copy: its figures are checked again, and its law is read-only again."""
        vars(self).update(figures)  # frozen for everybody else
        check_integer(name="n_rows", value=self.n_rows, minimum=1)
        check_integer(name="batch_size", value=self.batch_size, minimum=1)
        check_integer(name="largest", value=self.largest, minimum=0)
        check_choice(name="sampling", value=self.sampling, allowed=counts.SAMPLINGS)
        as_probability("tail", self.tail)
        as_probability("failure", self.failure)
        if not 0 <= self.second_moment < math.inf:
            raise ValueError(
                f"second_moment must be finite and not negative, got {self.second_moment!r}."
            )
        if self.log_law is None:
            return
        # Shared by every copy of the cap, and priced from again.
        self.log_law.flags.writeable = False
        law = np.exp(self.log_law)
        moment = float(np.arange(law.size) ** 2 @ law)
        if self.largest != law.size - 1 or not (
            math.isclose(float(law.sum()), 1.0, rel_tol=_ROUNDING)
            and math.isclose(moment, self.second_moment, rel_tol=_ROUNDING)
        ):
            raise ValueError(
                f"largest={self.largest} and second_moment={self.second_moment:g} are not those of "
                f"log_law: {law.size - 1} and {moment:g}, with probabilities that add up to "
                f"{law.sum():g}."
            )

    @property
    def law(self) -> Floats | None:
        """Probabilities of 0, 1, ... differing rows, where they are known."""
        return None if self.log_law is None else np.exp(self.log_law)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiscrepancyCap):
            return NotImplemented
        mine, theirs = (vars(each) | {"log_law": None} for each in (self, other))
        return mine == theirs and np.array_equal(self._known(), other._known())

    def __hash__(self) -> int:
        return hash((self.n_rows, self.batch_size, self.sampling, self.largest, self.second_moment))

    def _known(self) -> Floats:
        return np.empty(0) if self.log_law is None else self.log_law
