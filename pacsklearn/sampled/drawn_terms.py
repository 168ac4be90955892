"""What releases about a subset drawn from all balanced ones promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_law import SampledLaw
from pacsklearn.sampled.sampled_subsets import SampledSubsets

_NOT_CERTIFIED = (
    "none: it is computed on a list of candidates, and there is none; the bound implied by the "
    "information stands alone"
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnTerms(Terms):
    """The secret is one of all balanced subsets; releases about it are planned together.

    Parameters
    ----------
    drawn : DrawnSubsets
    sizes : SampledSubsets
    """

    drawn: DrawnSubsets
    sizes: SampledSubsets

    def check_again(self, own: MemoryLedger) -> None:
        if own.events:
            raise RuntimeError(
                "This session has made its releases: with secret_space='sampled' they are planned "
                "together, because no later one could be calibrated to what the first ones told. "
                "Give all of them to release_planned at once."
            )

    def guarantee(
        self, events: Sequence[Event], laws: Sequence[SampledLaw], **facts: Any
    ) -> Guarantee:
        sizes, secret = self.sizes, self.drawn.stated()
        own: dict[str, Any] = {
            "definition": f"mutual information between the secret {secret.noun} and the release",
            "unit": self.unit,
            "bound": (
                laws[0].proof
                if len(laws) == 1
                else "sum of the bounds of releases that are independent given the secret"
            ),
            # Each law has its share of gamma.
            "confidence": 1 - sizes.gamma,
            "secret": secret,
            "public": (*facts["public"], "the trials: centre, span, guard and shape of the noise"),
            "not_covered": secret.limits,
            "sources": (
                "posterior success: pac-private-algorithms, eq. 3",
                "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
            ),
            "noiseless": False,
            "metered": None,
            "details": (
                (
                    "trials",
                    f"{sizes.n_calibration:,} for the shape, {sizes.n_certificate:,} for the size",
                ),
                *(
                    (
                        "guard and certainty",
                        (
                            f"models beyond {sizes.guard:g} times the farthest first trial are "
                            f"pulled back; {law.enlargement:.4g} times the noise without a "
                            "certificate"
                        ),
                    )
                    for law in laws
                ),
                ("certified membership", _NOT_CERTIFIED),
            ),
        }
        return Guarantee(**(facts | own))
