"""The secret of a guarantee: what a sampler drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up
from pacsklearn.kernel.secret.stated_secret import Bounds, PACSecret, StatedAttack


@final
@dataclass(frozen=True, kw_only=True)
class SampledSecret(PACSecret):
    """What a sampler drew, of which only trials can be seen."""

    name = "sampled"
    noun = "secret"
    unit = "sampled secret"
    prior_membership = 0.5
    prior_identification = 1.0
    entropy = None
    n_candidates = None
    threats = (
        "The adversary has unlimited computing power.",
        "The adversary knows how the secret is drawn, the function and the noise's law.",
        "The adversary sees everything that was released.",
        "Hidden is which secret was drawn.",
    )
    limits = (
        (
            "How secrets are drawn: the adversary is assumed to know the sampler, and the secret "
            "must have been drawn by it, afresh, from a securely seeded generator."
        ),
        (
            "Single outcomes: success is averaged over the secret and the noise; one particular "
            "release may tell more about one particular secret than the average does."
        ),
        (
            "Other ways out: every call draws a secret of its own; releases about one and the same "
            "secret need a session."
        ),
        (
            "A bad draw of trials: the bound is a confidence statement about independent trials "
            "with public seeds. Choosing among seeds after looking at the results voids it."
        ),
        (
            "Far values: one beyond the guard is replaced by the nearest point towards the centre, "
            "and one of a secret on which the function fails by the centre; directions in which no "
            "calibration trial moved are not released."
        ),
    )

    def promise(self, seen: str, bounds: Bounds) -> str:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing how the secret is "
            "drawn, answers any question about it that blind guessing gets right half of the time "
            f"with a success of at most {percent_up(bounds.membership)} %."
        )

    def attacks(self, bounds: Bounds) -> tuple[StatedAttack, ...]:
        return (StatedAttack("a question at even odds", 0.5, bounds.membership),)

    def rows(self, bounds: Bounds) -> Rows:
        return [("secret", "drawn afresh by a sampler, of which only trials can be seen")]


def of_trials(facts: dict[str, Any], *details: tuple[str, str]) -> dict[str, Any]:
    """Return the fields in place of those about a list of candidates.

    ``details`` are about the trials.
    """
    return {
        "public": (*facts["public"], "the trials: centre, span, guard and shape of the noise"),
        "sources": (
            "posterior success: pac-private-algorithms, eq. 3",
            "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
        ),
        "noiseless": False,
        "metered": None,
        "details": details,
    }
