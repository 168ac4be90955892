"""What a step of private SGD costs, and how much noise a run needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import numpy as np
from scipy.optimize import brentq

from pacsklearn._validation import check_choice, check_integer
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.srpp.descent.discrepancy_cap import RECORDED, DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.divergence import step_divergence as steps
from pacsklearn.srpp.divergence.composed_profile import composed_epsilon
from pacsklearn.srpp.divergence.discrepancy import largest_batch
from pacsklearn.srpp.divergence.lattice_smoothing import CONTINUOUS_INFLATION
from pacsklearn.srpp.divergence.privacy_profile import (
    CommonBatchProfile,
    OppositeRowsProfile,
    StepProfile,
)
from pacsklearn.srpp.divergence.renyi_conversion import approximate_epsilon, gaussian_epsilon
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.release.events import GradientSteps

ACCOUNTINGS: Final = ("worst-case", "subsampling-aware", "secret-batches")
"""How the draw of the batches counts: worst batch, mean over known ones, or never learnt."""

# Covers rounding here, and chances of batches that are off by 2^-53.
_OUTWARD = 1 + 1e-9


@final
@dataclass(frozen=True)
class SRPPSGDAccountant:
    """Prices a step of clipped, noised SGD in Renyi divergence.

    A run is a sequence of steps; each is priced by itself, uniformly over what was released before,
    and prices add up: over the steps of a run, and over runs (srpp, Theorems 5.6 to 5.8).

    Parameters
    ----------
    cap : DiscrepancyCap
        How many rows of a batch the secret may change.
    clipping : GradientClipping
    order : float
        Renyi order, above 1.
    accounting : {"worst-case", "subsampling-aware", "secret-batches"}
        ``"worst-case"`` (HUC): no draw of the batches costs more. ``"subsampling-aware"``
        (sa-HUC): what is bounded is a mean over the draws, which the adversary may know.
        ``"secret-batches"``: a divergence of the release itself, when nobody learns the draws,
        never above srpp's Lemma J.1. For Poisson batches rows that pull as hard as they may,
        against rows that pull the other way, attain it.

    Raises
    ------
    ValueError
        When an argument is not of that form.

    Notes
    -----
    Every figure is of the full view, which bounds every slice too. Slices of a single step can be
    cheaper where layers are clipped one by one (srpp, appendix F). But training reacts to the whole
    of the last step, not to a slice of it, so that adding such prices up over steps, as published,
    has no proof here.

    Examples
    --------
    >>> cap = DiscrepancyCap.differing(50_000, 20, 512)
    >>> clipping = GradientClipping((4.0,), (100,))
    >>> worst = SRPPSGDAccountant(cap, clipping, 16.0, "worst-case")
    >>> aware = SRPPSGDAccountant(cap, clipping, 16.0, "subsampling-aware")
    >>> [round(each.noise_multiplier(8.0, n_steps=1000), 1) for each in (worst, aware)]
    [1265.3, 31.3]
    """

    cap: DiscrepancyCap
    clipping: GradientClipping
    order: float
    accounting: str

    def __post_init__(self) -> None:
        if not 1 < self.order < math.inf:
            raise ValueError(f"order must be above 1 and finite, got {self.order!r}.")
        check_choice(name="accounting", value=self.accounting, allowed=ACCOUNTINGS)
        if self.accounting == "secret-batches" and self.cap.log_law is None:
            raise ValueError(
                "accounting='secret-batches' needs the law of the number of differing rows. Draws "
                "of tables bound its mean square alone: use accounting='subsampling-aware' or "
                "'worst-case'; or a scenario that lists its training sets, as DifferingRows and "
                "PrevalenceScenario(shares=...) do."
            )

    @classmethod
    def of(cls, event: GradientSteps) -> SRPPSGDAccountant:
        """Return the accountant that prices the steps of an event again, in the full view."""
        clipping = GradientClipping(event.norms, event.sizes)
        return cls(DiscrepancyCap.recorded(event), clipping, event.order, event.accounting)

    def event(
        self, noise_multiplier: float, n_steps: int, unit: str, plugins: tuple[Provenance, ...] = ()
    ) -> GradientSteps:
        """Return what such steps are charged with: everything that :meth:`of` needs."""
        cap, clipping = self.cap, self.clipping
        logs = None if cap.log_law is None else cap.log_law.tolist()
        price = n_steps * self.cost(noise_multiplier)
        return GradientSteps(
            kind="sgd-step",
            charge=price,
            unit=unit,
            backend="gradient noise",
            bound=price,
            n_outputs=clipping.dimension,
            n_noisy=clipping.dimension,
            provenance=plugins,
            confidence=1.0 - self.failure(n_steps),
            n_steps=n_steps,
            noise_multiplier=noise_multiplier,
            order=self.order,
            accounting=self.accounting,
            log_law=logs if logs is None else tuple(e if e > -np.inf else None for e in logs),
            **{name: getattr(cap, name) for name in RECORDED},
            norms=clipping.norms,
            sizes=clipping.sizes,
        )

    @property
    def needs_tails(self) -> bool:
        """Whether a step is covered only where no more rows differ than the cap's ``largest``."""
        return self.accounting == "worst-case"

    def failure(self, n_steps: int) -> float:
        """Return the probability that a run of so many steps is not covered (srpp, equation 34)."""
        return min(self.cap.failure + (n_steps * self.cap.tail if self.needs_tails else 0.0), 1.0)

    def cost(self, noise_multiplier: float) -> float:
        """Return the price of one step, in nats.

        Parameters
        ----------
        noise_multiplier : float
            Standard deviation of the noise on the sum of the gradients, over the clipping norm.
        """
        return self._divergence(self.order, noise_multiplier, self.accounting) * _OUTWARD

    def release_cost(self, noise_multiplier: float) -> float:
        """Return the Renyi divergence of one step's release itself, in nats.

        The price where that is one.

        For the subsampling-aware accounting, whose price is a mean: of a release whose batch stays
        secret, or of the worst batch where the law of the count is not known. That batch is all
        rows where more than the cap's ``largest`` may differ.
        """
        accounting = self.accounting
        if accounting == "worst-case" or self.cap.log_law is None:
            most = self.cap.largest if self.cap.tail == 0 else self.most_rows
            return self._shifted(self.order, noise_multiplier, most) * _OUTWARD
        if accounting == "subsampling-aware":
            accounting = "secret-batches"
        return self._divergence(self.order, noise_multiplier, accounting) * _OUTWARD

    def noise_multiplier(self, epsilon: float, n_steps: int) -> float:
        """Return the least noise with which so many steps cost ``epsilon`` at most.

        Raises
        ------
        ValueError
            When rounding to the lattice alone costs more.
        """
        check_integer(name="n_steps", value=n_steps, minimum=1)
        if not 0 < epsilon < math.inf:
            raise ValueError(f"epsilon must be positive and finite, got {epsilon!r}.")
        if self.cap.largest == 0:
            raise ValueError("No rows differ: there is nothing to hide, and no noise is needed.")
        # Room for the rounding of the sum over the steps.
        allowed = epsilon / n_steps * (1 - 1e-13)
        least = self.clipping.least_multiplier(self.most_rows)
        high = max(1.0, least)
        while self.cost(high) > allowed:
            high *= 8
            if high > 1e12:
                raise ValueError(
                    f"epsilon={epsilon!r} over {n_steps:,} steps is too small for "
                    f"{self.clipping.dimension:,} parameters on the integer lattice; give a larger "
                    "epsilon or fewer steps."
                )
        low = high
        while low > least and self.cost(low) <= allowed:
            high, low = low, max(low / 8, least)
        if self.cost(low) <= allowed:
            return low

        def excess(log: float) -> float:
            return math.log(self.cost(math.exp(log)) / allowed)

        root = brentq(excess, math.log(low), math.log(high), xtol=1e-13, rtol=1e-14)
        multiplier = math.exp(root)
        # The root is off to either side: up until the price itself fits.
        hair = 1e-13
        while self.cost(multiplier) > allowed:
            multiplier *= 1 + hair
            hair *= 2
        return multiplier

    def costs(self, noise_multiplier: float, n_steps: int, delta: float) -> RenyiCosts:
        """Return all views of a run, with (epsilon, delta) bounds at the best order.

        A mean over batches does not turn into an (epsilon, delta) bound; for the subsampling-aware
        accounting the one given is for batches that stay secret, or for the worst batch where
        their law is not known. ``delta`` holds the tails of all steps too: epsilon is that of the
        cap's ``largest`` at what they leave of it, or of batches of which all rows differ.
        """
        full = n_steps * self.cost(noise_multiplier)
        epsilon = self._epsilon(noise_multiplier, n_steps, delta)
        return RenyiCosts.of_whole(self.order, full, delta, epsilon)

    def information(self, noise_multiplier: float, n_steps: int) -> float:
        """Return the Kullback-Leibler divergence between two secrets' releases of a run, in nats.

        For the subsampling-aware accounting it holds for whoever knows the batches, on average
        over them.
        """
        return n_steps * self._divergence(1.0, noise_multiplier, self.accounting) * _OUTWARD

    @lru_cache(maxsize=8)  # noqa: B019 - as for prices
    def looseness(self, noise_multiplier: float) -> float | None:
        """Bound how many times a divergence that some rows attain one step's price is.

        1 but for rounding where the counts of differing rows are kept apart; None where nothing
        attained is known: for batches of one size, and for worst cases and means.
        """
        known = self.cap.log_law
        poisson = self.cap.sampling == "poisson" and self.accounting == "secret-batches"
        if known is None or not poisson or self.cap.largest == 0:
            return None
        reach = self.clipping.reach(noise_multiplier, self.most_rows) / 2
        # Without what rounding to the lattice may add to a shift: those rows need not gain by it.
        attained = OppositeRowsProfile(known, reach, 0.0, below=True).renyi(self.order)
        if not 0 < attained < math.inf:
            return None
        return max(self._divergence(self.order, noise_multiplier, self.accounting) / attained, 1.0)

    @property
    def most_rows(self) -> int:
        """Most rows that a batch can have."""
        return largest_batch(self.cap.n_rows, self.cap.batch_size, self.cap.sampling)

    @lru_cache(maxsize=64)  # noqa: B019 - as for prices
    def _epsilon(self, noise_multiplier: float, n_steps: int, delta: float) -> float:
        cap = self.cap
        if self.accounting == "worst-case" or cap.log_law is None:
            # Steps in which more rows differ count in delta; or all rows of a batch may differ.
            left = delta - n_steps * cap.tail * _OUTWARD
            counts = [(cap.largest, left)] * (left > 0) + [(self.most_rows, delta)] * (cap.tail > 0)
            rates = [(self._shifted(1.0, noise_multiplier, k), share) for k, share in counts]
            return min(gaussian_epsilon(n_steps * r, share) for r, share in rates) * _OUTWARD
        if cap.largest == 0:
            return 0.0
        epsilon = composed_epsilon(self._profile(noise_multiplier), n_steps, delta)
        if epsilon == math.inf:
            epsilon = approximate_epsilon(
                lambda order: n_steps * self._divergence(order, noise_multiplier, "secret-batches"),
                delta,
            )
        return epsilon * _OUTWARD

    def _shifted(self, order: float, noise_multiplier: float, count: int) -> float:
        """Return the divergence of a step in which so many rows differ."""
        reach = self.clipping.reach(noise_multiplier, self.most_rows)
        return steps.shift_divergence(order, count, reach, self.clipping.slack)

    @lru_cache(maxsize=256)  # noqa: B019 - frozen, small, and asked for the same price often
    def _divergence(self, order: float, noise_multiplier: float, accounting: str) -> float:
        """Return the Renyi divergence of a step, before it is rounded outwards."""
        reach, slack = self.clipping.reach(noise_multiplier, self.most_rows), self.clipping.slack
        cap = self.cap
        if accounting == "worst-case":
            return steps.shift_divergence(order, cap.largest, reach, slack)
        if cap.log_law is None:
            return steps.moment_divergence(order, cap.second_moment, reach, slack)
        if accounting == "subsampling-aware":
            return steps.mean_divergence(order, np.exp(cap.log_law), reach, slack)
        if cap.largest == 0:
            return 0.0
        known = steps.secret_batch_divergence(order, cap.log_law, reach, slack)
        # Both are bounds; which one is lower depends on order and counts.
        return min(known, self._profile(noise_multiplier).renyi(order))

    def _profile(self, noise_multiplier: float) -> StepProfile:
        """Return what a step's release tells when nobody learns its batch."""
        assert self.cap.log_law is not None
        reach = self.clipping.reach(noise_multiplier, self.most_rows) * CONTINUOUS_INFLATION
        slack = self.clipping.slack * CONTINUOUS_INFLATION
        if self.cap.sampling == "poisson":
            # The other rows are drawn independently: against the sum without the differing ones,
            # each moves it by one clipping norm.
            return OppositeRowsProfile(self.cap.log_law, reach / 2, slack)
        return CommonBatchProfile(self.cap.log_law, reach, slack)
