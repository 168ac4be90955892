"""What the optimal adversary achieves at single memberships under the law of a release."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.joint_law import JointLaw
from pacsklearn.core.membership_criterion import MembershipCriterion
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.one_sided_law import OneSidedLaw
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.support import Support
from pacsklearn.information.arrays import Floats
from pacsklearn.information.criterion_success import certified_success
from pacsklearn.information.mixture import GaussianMixture
from pacsklearn.information.padding import RESOLUTION
from pacsklearn.information.rounding import OUTWARD
from pacsklearn.noise.certified import GAMMA, generator_for, lattice_slack
from pacsklearn.tables.hashed_space import Space

Law = NoiseLaw | JointLaw | OneSidedLaw

_DRAWS = 2**10
# It stands beside the promise and is not it: fits of 20,000 rows need not wait for its last digit.
_PRODUCTS = 2**32
# Units whose memberships are unpacked at a time: m bytes each.
_CHUNK = 16384


@final
class Certified(NamedTuple):
    """Bound on the success at the worst unit's membership, and the probability that it holds."""

    success: float
    confidence: float


def certified_membership(law: Law, space: Space, belief: NDArray[np.float64]) -> Certified | None:
    """Bound on the success at the worst unit.

    Parameters
    ----------
    law : NoiseLaw, JointLaw or OneSidedLaw
    space : SecretSpace, CandidateSpace or HashedSpace
    belief : ndarray of shape (m,)
        That the law was calibrated for.

    Returns
    -------
    Certified or None
        None where secrets are no subsets, or nothing is hidden. For padding it is a finite sum,
        and holds with confidence 1; for Gaussian noise it fails with probability ``GAMMA``.

    Notes
    -----
    A function of the law and of the list of candidates, never of the secret: it is computed before
    anything is drawn.
    """
    if not isinstance(space, SecretSpace) or law.is_noiseless:
        return None
    weights = belief / belief.sum()
    if isinstance(law, OneSidedLaw):
        return Certified(_padded(law, space, weights), 1.0)
    centres = law.centres
    success = certified_success(
        GaussianMixture(centres, weights, float(law.scale)),
        MembershipCriterion(space),
        _DRAWS,
        GAMMA,
        generator_for(Support(centres.astype(np.float64), weights), "certify"),
        _PRODUCTS,
    )
    # The draws are of continuous noise, the release has the lattice's.
    return Certified(min(success + lattice_slack(law.dimension, 1.0), 1.0), 1 - GAMMA)


def _padded(law: OneSidedLaw, space: SecretSpace, weights: Floats) -> float:
    """Exact success: for each level the likelier answer, which is right with its share of it."""
    joint = weights[:, None] * (law.padding.counts[law.row] / RESOLUTION)
    worst = 0.0
    for start in range(0, space.n_units, _CHUNK):
        members = space.membership(slice(start, start + _CHUNK))
        secret = members.any(axis=1) & ~members.all(axis=1)
        inside = members[secret] @ joint
        right = np.maximum(inside, joint.sum(axis=0) - inside).sum(axis=1)
        worst = max(worst, float(right.max(initial=0.0)))
    # Outward: rounding of the sums may make it too high, never too low.
    return min(math.nextafter(worst * OUTWARD, 2.0), 1.0)
