"""What the optimal adversary achieves at single memberships under the law of one release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.membership_criterion import MembershipCriterion
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.support import Support
from pacsklearn.information.criterion_success import certified_success
from pacsklearn.information.mixture import GaussianMixture
from pacsklearn.noise.certified import GAMMA, generator_for, lattice_slack
from pacsklearn.release.statement import membership_prior

__all__ = ["certified_membership"]

_DRAWS = 2**10
# It stands beside the promise and is not it: fits of 20,000 rows need not wait for its last digit.
_PRODUCTS = 2**33


def certified_membership(
    law: NoiseLaw, space: SecretSpace | CandidateSpace, belief: NDArray[np.float64]
) -> float | None:
    """Bound on the success at the worst unit that fails with probability ``GAMMA`` at most.

    Parameters
    ----------
    law : NoiseLaw
    space : SecretSpace or CandidateSpace
    belief : ndarray of shape (m,)
        That the law was calibrated for.

    Returns
    -------
    float or None
        None where no membership is secret, or nothing is hidden.

    Notes
    -----
    A function of the law and of the list of candidates, never of the secret: it is computed before
    anything is drawn.
    """
    if not isinstance(space, SecretSpace) or law.is_noiseless:
        return None
    if membership_prior(space)[1] == space.n_units:
        return None
    weights = belief / belief.sum()
    found = certified_success(
        GaussianMixture(law.centres, weights, float(law.scale)),
        MembershipCriterion(space),
        _DRAWS,
        GAMMA,
        generator_for(Support(law.centres.astype(np.float64), weights), "certify"),
        _PRODUCTS,
    )
    return min(found + lattice_slack(law.dimension, 1.0), 1.0)
