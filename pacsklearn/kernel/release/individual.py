"""What a release tells about each unit by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.individual_information import (
    IndividualInformation,
    individual_information,
)
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.noise.certified import GAMMA
from pacsklearn.kernel.noise.lattice import generator_for
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support
from pacsklearn.kernel.secret.secret_space import SecretSpace

_DRAWS = 2**13
# Standard deviations between neighbouring points of a law without noise: nothing overlaps.
_APART = 50.0


def information_about_units(
    law: NoiseLaw, space: SecretSpace, belief: NDArray[np.float64]
) -> IndividualInformation:
    """Individual mutual information of a release under the belief it was calibrated for."""
    scale = 1 / _APART if law.is_noiseless else float(law.scale)
    return individual_information(
        GaussianMixture(law.centres, belief / belief.sum(), scale),
        space.membership(),
        n_draws=_DRAWS,
        gamma=GAMMA,
        generator=generator_for(Support(law.centres.astype(np.float64), belief), "individual"),
    )


def with_individual(guarantee: Guarantee, information: IndividualInformation) -> Guarantee:
    """Guarantee that tells the worst and the spread over the units as well."""
    low, _, middle, _, high = information.quantiles()
    unit = guarantee.privacy_unit
    return replace(
        guarantee,
        details=(
            *guarantee.details,
            (
                f"about any one {unit}",
                (
                    f"at most {information.worst:.6g} nats from this release, at confidence "
                    f"{information.confidence:.8g}; estimates from {low:.3g} to {high:.3g}, median "
                    f"{middle:.3g}"
                ),
            ),
        ),
    )
