"""The guarantee's facts about releases of a subset drawn from all balanced ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.noise.sampled_law import SampledLaw
from pacsklearn.kernel.secret.drawn_rows import DrawnRows
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import SampledSubsets

_NOT_CERTIFIED = (
    "none: it is computed on a list of candidates, and there is none; the bound implied by the "
    "information stands alone"
)


def drawn_guarantee(
    drawn: DrawnSubsets,
    sizes: SampledSubsets,
    laws: Sequence[SampledLaw],
    public: Iterable[str],
    **facts: Any,
) -> Guarantee:
    """Guarantee of what was released under the laws; of what may be, without any.

    ``facts`` are fields of the guarantee that only the procedure knows.
    """
    secret = DrawnRows(
        entropy=drawn.entropies[0],
        least_log=drawn.entropies[1],
        unit=drawn.unit,
        n_rows=drawn.n_rows,
        n_units=drawn.n_units,
        rate=drawn.rate,
        known=drawn.known,
    )
    return Guarantee(
        definition=f"mutual information between the secret {secret.noun} and the release",
        unit="nats",
        bound=(
            laws[0].proof
            if len(laws) == 1
            else "sum of the bounds of releases that are independent given the secret"
        ),
        # Each law has its share of gamma.
        confidence=1 - sizes.gamma,
        secret=secret,
        public=(*public, "the trials: centre, span, guard and shape of the noise"),
        not_covered=secret.limits,
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
        ),
        noise=laws[0].backend if laws else "none yet",
        noiseless=False,
        n_releases=len(laws),
        details=(
            (
                "trials",
                f"{sizes.n_calibration:,} for the shape, {sizes.n_certificate:,} for the size",
            ),
            *(
                (
                    "guard and certainty",
                    (
                        f"models beyond {sizes.guard:g} times the farthest first trial are pulled "
                        f"back; {law.enlargement:.4g} times the noise without a certificate"
                    ),
                )
                for law in laws
            ),
            ("certified membership", _NOT_CERTIFIED),
        ),
        **facts,
    )
