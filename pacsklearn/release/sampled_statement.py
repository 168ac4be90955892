"""The guarantee's facts and words for a secret that can be sampled but not listed."""

from __future__ import annotations

from pacsklearn.core.event import Provenance
from pacsklearn.core.guarantee import SAMPLED, Guarantee
from pacsklearn.core.sampled_law import SampledLaw

__all__ = ["sampled_guarantee"]

_TRIALS = (
    "A bad draw of trials: the bound is a confidence statement about independent trials with "
    "public seeds. Choosing among seeds after looking at the results voids it."
)
_LAW = (
    "How secrets are drawn: the adversary is assumed to know the sampler, and the secret must have "
    "been drawn by it, afresh, from a securely seeded generator."
)
_GUARD = (
    "Far values: one beyond the guard is replaced by the nearest point towards the centre, and one "
    "of a secret on which the function fails by the centre; directions in which no calibration "
    "trial moved are not released."
)
_SINGLE_VALUES = (
    "Single outcomes: success is averaged over the secret and the noise; one particular release "
    "may tell more about one particular secret than the average does."
)
_OTHER_WAYS = (
    "Other ways out: every call draws a secret of its own; releases about one and the same secret "
    "need a session."
)


def sampled_guarantee(
    law: SampledLaw,
    *,
    name: str,
    budget: float,
    guard: float,
    for_release: bool,
    provenance: tuple[Provenance, ...],
) -> Guarantee:
    """Guarantee of one release of the function called ``name``."""
    return Guarantee(
        framework="PAC privacy",
        definition=(
            "mutual information between the secret and the release; the secret space has sample "
            "access only"
        ),
        budget=budget,
        spent=law.bound,
        unit="nats",
        bound=law.proof,
        confidence=law.confidence,
        secret_entropy=None,
        n_subsets=0,
        n_units=0,
        n_rows=0,
        privacy_unit=SAMPLED,
        prior_membership=0.5,
        n_unprotected=0,
        released=(f"value of {name}",),
        public=(
            "the function",
            "shape of its value",
            "the trials: centre, span, guard and shape of the noise",
        ),
        not_covered=(_LAW, _TRIALS, _GUARD, _SINGLE_VALUES, _OTHER_WAYS),
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
        ),
        noise=law.backend,
        noiseless=False,
        for_release=for_release,
        provenance=provenance,
        details=(
            ("trials", f"{law.n_calibration:,} for the shape, {law.n_certificate:,} for the size"),
            ("guard", f"q_max = {law.span.q_max:.6g}, {guard:g} times the farthest first trial"),
            ("cost of certainty", f"{law.enlargement:.4g} times the noise without a certificate"),
        ),
    )
