"""What the optimal adversary achieves at memberships under the laws of a session, certified."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.criterion_success import certified_success
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion, has_units
from pacsklearn.kernel.noise.certified import GAMMA
from pacsklearn.kernel.noise.lattice import distinct_outputs, generator_for, lattice_slack
from pacsklearn.kernel.noise.law import Law
from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.kernel.secret.space import RowSpace, Space

_DRAWS = 2**10
# It stands beside the promise and is not it: fits of 20,000 rows need not wait for its last digit.
_PRODUCTS = 2**32


@final
class Certified(NamedTuple):
    """Bound on the success at the worst unit's membership, and the probability that it holds."""

    success: float
    confidence: float


def certified_membership(law: Any, space: Space, belief: Floats) -> Certified | None:
    """Bound the success at the worst unit.

    Parameters
    ----------
    law : Law
    space : Space
    belief : ndarray of shape (m,)
        That the law was calibrated for.

    Returns
    -------
    Certified or None
        None where secrets are no subsets. For padding, and where there is no noise, it is a finite
        sum, and holds with confidence 1; for Gaussian noise it fails with probability ``GAMMA``.

    Notes
    -----
    A function of the law and of the list of candidates, never of the secret: it is computed before
    anything is drawn.
    """
    if not space.has_members:
        return None
    rows, weights = has_units(space, MembershipCriterion.name), belief / belief.sum()
    if law.channel is not None:
        return Certified(_finite(law.channel, rows, weights), 1.0)
    centres = law.centres
    if law.is_noiseless:
        # Of several planned releases those with noise are taken as exact too: an upper bound.
        seen = distinct_outputs(centres)
        return Certified(_finite(np.eye(seen.max() + 1)[seen], rows, weights), 1.0)
    # The mean over releases of the posterior's better guess, from draws of the mixture with a
    # confidence bound, at once for all units.
    success = certified_success(
        GaussianMixture(centres, weights, float(law.scale)),
        MembershipCriterion(rows),
        _DRAWS,
        GAMMA,
        generator_for(Support(centres.astype(np.float64), weights), "certify"),
        _PRODUCTS,
    )
    # The draws are of continuous noise, the release has the lattice's.
    return Certified(min(success + lattice_slack(law.dimension, 1.0), 1.0), 1 - GAMMA)


def _finite(shares: Floats, space: RowSpace, weights: Floats) -> float:
    """Return the exact success of a finite channel: in each outcome the likelier answer is given.

    ``shares`` has each candidate's probabilities of the outcomes in a row.
    """
    # Bayes: in outcome y she says what is likelier, so that she is right with probability
    # sum over y of max(P(used, y), P(not used, y)). The whole sum is finite: no draws, no doubt.
    worst = space.worst(partial(_right, weights[:, None] * shares))
    # Outward: rounding of the sums may make it too high, never too low.
    return min(math.nextafter(worst * OUTWARD, 2.0), 1.0)


def _right(joint: Floats, members: NDArray[np.bool_]) -> Floats:
    """Return how often the likelier answer is right at each unit, shape (n_units,)."""
    inside = members @ joint
    return np.asarray(np.maximum(inside, joint.sum(axis=0) - inside).sum(axis=1))


@final
@dataclass(eq=False, repr=False)
class SessionCertificate:
    """What a session has fixed beforehand, and the laws it used; secret material.

    Attributes
    ----------
    fixed : Certified or None
        Figure of the first release, or of the first planned ones together: computed from laws that
        nothing released has influenced, so it may be published.
    used : list of Law
        Those of charged steps, in order; of answers none.
    n_planned : int
        Releases that were charged together with another one.
    """

    fixed: Certified | None = None
    used: list[Law] = field(default_factory=list)
    n_planned: int = 0

    later: ClassVar[str] = (
        "none for all releases together: the noise of the later ones depends on what came out "
        "before, and so would the figure. Releases that are planned together (release_planned) "
        "have one"
    )

    def note(self, law: Law) -> None:
        """Remember a law that was used."""
        self.used.append(law)
        self.n_planned += len(law.laws) - 1

    @property
    def laws(self) -> tuple[Any, ...]:
        """Every law that was used, those of planned releases one by one."""
        return tuple(one for law in self.used for one in law.laws)

    def export(self) -> tuple[tuple[float, float] | None, int]:
        """Return what a session file keeps: the published figure and the count, and no law."""
        return None if self.fixed is None else (*self.fixed,), self.n_planned

    def restore(self, figure: tuple[float, float] | None, n_planned: int) -> None:
        """Take over what :meth:`export` gave."""
        self.fixed = None if figure is None else Certified(*figure)
        self.n_planned = n_planned
