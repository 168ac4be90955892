"""The guarantee's facts and words for sliced Pufferfish releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.scenarios.stated_scenario import SecretWorlds

if TYPE_CHECKING:  # the release calls this
    from pacsklearn.srpp.release.calibrated_worlds import CalibratedWorlds

_SLICED = (
    "Sliced, not full: average and joint figures are about one projection at a time of the "
    "released numbers, in the directions of the slice profile, and change under "
    "post-processing. Whoever holds the whole release is bounded by the full view only."
)
_READING = (
    "Slices read without any error: the released numbers are whole multiples of a grid step, and a "
    "projection known to all digits gives them all away. Sliced figures are for a slice read with "
    "a Gaussian error of two grid steps, 2 in 1,000,000 of the noise; the full view needs no such "
    "condition."
)
_EMPIRICAL = (
    "Other data sets: the promise is exact for the enumerated data sets of the scenario, drawn by "
    "public seeds, each equally likely given its secret. How well they stand for all data sets "
    "that could have been is not part of it."
)
_DRAWN_DATA = (
    "What the adversary knows beyond: someone who knows which of a secret's data sets would have "
    "been used if it were true may learn more than the figures, up to the worst case over data "
    "sets."
)
_ONE_TABLE = (
    "A second release of the same table: the promise is an average over draws, and such promises "
    "do not add up. Release everything at once, from one function."
)


_BAYES = (
    "success of the best attack: Neyman and Pearson, by closed form, quadrature, or a mean of "
    "posteriors (Fan, Grama and Liu, 2015)"
)
_LISTED_SOURCES = (
    "Gaussian sliced Wasserstein mechanism: srpp, Lemma 4.1 and section 4.3",
    "order of the three views: srpp, Proposition B.1",
    "(epsilon, delta): srpp, Lemma B.1 at the best order",
    "sums on a ledger: srpp, Theorem 5.8 (joint: each release along its own slice)",
    "shifts of discrete Gaussians: at most the continuous divergence",
    _BAYES,
)
_DRAWN_SOURCES = (
    "Renyi moment of coupled draws: srpp, Lemma 4.1, by joint convexity",
    "its confidence bound: Waudby-Smith and Ramdas, by betting, 2024",
    "order of the three views: srpp, Proposition B.1",
    "shifts of discrete Gaussians: at most the continuous divergence",
    _BAYES,
)


def pufferfish_guarantee(calibrated: CalibratedWorlds, **facts: Any) -> PufferfishGuarantee:
    """Return the guarantee of a sliced release.

    ``facts`` are fields of it that only the release knows.
    """
    scenario, worlds = calibrated.scenario, calibrated.worlds
    law, profile = calibrated.law, calibrated.profile
    definition = {
        "average": "Ave-SRPP: mean over slices of the Renyi divergence (srpp, Definition 4.2)",
        "joint": "Joint-SRPP: log-moment over slices (srpp, Definition 4.4)",
        "full": "RPP: Renyi divergence of the whole release",
    }[law.aggregation]
    if scenario.redrawn:
        limits = (_EMPIRICAL, _DRAWN_DATA) if worlds.n_draws > 1 else (_EMPIRICAL,)
        holds_for, coupling = "", "the best coupling of two secrets' data sets, along each slice"
    else:
        limits = (_ONE_TABLE,)
        holds_for = "tables drawn from the stated laws"
        coupling = "the n-th draws of two secrets, made from the same random numbers"
    secret = SecretWorlds(
        protects=scenario.protects, **worlds.sizes, coupling=coupling, holds_for=holds_for
    )
    return PufferfishGuarantee(
        secret=secret,
        releases=scenario.releases,
        definition=definition,
        spent=law.cost,
        aggregation=law.aggregation,
        costs=law.costs,
        success=calibrated.success,
        bound=law.proof,
        confidence=law.confidence,
        assumptions=law.assumptions,
        slices=f"{profile.name} in {profile.dimension} dimensions, digest {profile.digest}",
        noiseless=law.is_noiseless,
        not_covered=(*scenario.not_covered, _SLICED, _READING, *limits, *secret.limits),
        sources=_LISTED_SOURCES if scenario.redrawn else _DRAWN_SOURCES,
        **facts,
    )
