"""What is stated of a session's releases: the guarantee, and the figures certified beside it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.criterion_success import certified_success
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.padding import RESOLUTION
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion, known_rows_success
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.noise.certified import GAMMA
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.lattice import distinct_outputs, generator_for, lattice_slack
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support
from pacsklearn.kernel.noise.one_sided_law import OneSidedLaw
from pacsklearn.kernel.outputs.canonicalizer import Layout
from pacsklearn.kernel.release.account import ledger_unit
from pacsklearn.kernel.release.curator_figure import CuratorFigure
from pacsklearn.kernel.secret.secret_rows import SecretRows
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import RowSpace, Space
from pacsklearn.kernel.secret.stated_secret import SecretCandidate

_MOST_UNITS = 4096

_RULED_OUT = (
    "What padding cannot hide: a padded value rules out every candidate whose own value is larger."
)

_OTHER_AIMS = (
    "Other aims: only the success named above is capped; what an adversary achieves otherwise is "
    "bounded by the mutual information alone."
)


def pac_guarantee(
    space: Space, criterion: Criterion | None, *, only_adds: bool, **facts: Any
) -> Guarantee:
    """Guarantee of mutual information between the secret candidate and what was released.

    Parameters
    ----------
    space : Space
    criterion : Criterion or None
        What is capped instead.
    only_adds : bool
        Whether noise was added that only grows.
    **facts
        Fields of the guarantee that only the procedure knows.
    """
    secret = _secret(space)
    return Guarantee(
        definition=(
            f"mutual information between the secret {secret.noun} and the release"
            if criterion is None
            else f"success of the optimal adversary, who wants to {criterion.statement}"
        ),
        unit=ledger_unit(criterion),
        criterion=None if criterion is None else criterion.name,
        capped="" if criterion is None else criterion.aim,
        secret=secret,
        not_covered=(
            *secret.limits,
            *((_RULED_OUT,) if only_adds else ()),
            *((_OTHER_AIMS,) if criterion is not None else ()),
        ),
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "DP comparison: pac-private-algorithms, eq. 2",
            "noise bound: see the backend",
        ),
        **facts,
    )


def _secret(space: Space) -> SecretRows | SecretCandidate:
    blind = float(space.weights.max())
    if not isinstance(space, RowSpace):
        return SecretCandidate(
            n_candidates=space.n_candidates, entropy=space.entropy, prior_identification=blind
        )
    prior, n_unprotected = membership_prior(space)
    known, errors = _known_rows(space)
    return SecretRows(
        n_candidates=space.n_candidates,
        entropy=space.entropy,
        prior_identification=blind,
        unit=space.unit,
        n_rows=space.n_rows,
        n_units=space.n_units,
        prior_membership=prior,
        n_unprotected=n_unprotected,
        known=known,
        known_errors=errors,
        is_listed=space.is_listed,
    )


def membership_prior(space: RowSpace) -> tuple[float, int]:
    """Blind success at the membership of the least protected unit, and how many have no secret."""
    inclusion = space.inclusion()
    # Units in all subsets or in none have no secret: their success of 1 would hide the others'.
    # There are others, because subsets differ.
    protected = inclusion[(inclusion > 0) & (inclusion < 1)]
    prior = float(np.max(np.maximum(protected, 1 - protected)))
    return prior, int(inclusion.size - protected.size)


_Known = tuple[tuple[tuple[float, float], ...], tuple[float, ...]]

# A session states its guarantee after every answer; its space stays the same.
_KNOWN: WeakKeyDictionary[RowSpace, _Known] = WeakKeyDictionary()


def _known_rows(space: RowSpace) -> _Known:
    """Blind success of those who know memberships of units that have a secret, and its errors."""
    if space not in _KNOWN:
        inclusion = space.inclusion()
        hidden = np.flatnonzero((inclusion > 0) & (inclusion < 1))
        if hidden.size < 2:
            return (), ()
        uniform, greedy, errors = known_rows_success(
            space.membership(_sampled(hidden)), space.weights
        )
        known = tuple((float(u), float(g)) for u, g in zip(uniform, greedy, strict=True))
        _KNOWN[space] = known, tuple(errors.tolist())
    return _KNOWN[space]


def _sampled(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Units of a large universe that the averages are taken over."""
    if units.size <= _MOST_UNITS:
        return units
    # A fixed seed: a guarantee says the same whenever it is asked for.
    return np.random.default_rng(0).choice(units, _MOST_UNITS, replace=False)


def public_facts(layout: Layout) -> tuple[str, ...]:
    """Names of the structure that a release shows as it is."""
    names = {"hyper-parameters", "public seeds"}

    def collect(part: Layout) -> None:
        names.update(name for name, _ in part.facts if name.endswith("_"))
        for _, child in part.children:
            collect(child)

    collect(layout)
    return tuple(sorted(names))


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
    if not isinstance(space, SecretSpace):
        return None
    weights = belief / belief.sum()
    if isinstance(law, OneSidedLaw):
        return Certified(_finite(law.padding.counts[law.row] / RESOLUTION, space, weights), 1.0)
    centres = law.centres
    if law.is_noiseless:
        # Of several planned releases those with noise are taken as exact too: an upper bound.
        seen = distinct_outputs(centres)
        return Certified(_finite(np.eye(seen.max() + 1)[seen], space, weights), 1.0)
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


def _finite(shares: Floats, space: SecretSpace, weights: Floats) -> float:
    """Exact success of a finite channel: in each outcome the likelier answer is given.

    ``shares`` has each candidate's probabilities of the outcomes in a row.
    """
    joint = weights[:, None] * shares
    worst = 0.0
    for start in range(0, space.n_units, _CHUNK):
        members = space.membership(slice(start, start + _CHUNK))
        secret = members.any(axis=1) & ~members.all(axis=1)
        inside = members[secret] @ joint
        right = np.maximum(inside, joint.sum(axis=0) - inside).sum(axis=1)
        worst = max(worst, float(right.max(initial=0.0)))
    # Outward: rounding of the sums may make it too high, never too low.
    return min(math.nextafter(worst * OUTWARD, 2.0), 1.0)


LATER = (
    "none for all releases together: the noise of the later ones depends on what came out before, "
    "and so would the figure. Releases that are planned together (release_planned) have one"
)


class SessionCertificate:
    """What a session has fixed beforehand, and the laws it used; secret material.

    Attributes
    ----------
    fixed : Certified or None
        Figure of the first release, or of the first planned ones together: computed from laws that
        nothing released has influenced, so it may be published.
    n_planned : int
        Releases that were charged together with another one.
    """

    def __init__(self) -> None:
        self.fixed: Certified | None = None
        self._laws: list[Law] = []
        self.n_planned = 0

    def fix(self, law: Law, space: Space, belief: Floats) -> Certified | None:
        """Certify the law of what is released first, before it is drawn."""
        self.fixed = certified_membership(law, space, belief)
        return self.fixed

    def note(self, law: Law) -> None:
        """Remember a law that was used."""
        self._laws.append(law)
        if isinstance(law, JointLaw):
            self.n_planned += len(law.laws) - 1

    def export(self) -> tuple[tuple[float, float] | None, int]:
        """What a session file keeps: the published figure and the count, and no law."""
        figure = None if self.fixed is None else (self.fixed.success, self.fixed.confidence)
        return figure, self.n_planned

    def restore(self, figure: tuple[float, float] | None, n_planned: int) -> None:
        """Take over what :meth:`export` gave."""
        self.fixed = None if figure is None else Certified(*figure)
        self.n_planned = n_planned

    def under_all(self, space: SecretSpace, n_events: int) -> tuple[Certified | None, str]:
        """Certify the laws used so far as though they had been fixed beforehand.

        Returns
        -------
        certified : Certified or None
        missing : str
            Why there is none.
        """
        if n_events == 0:
            return None, "nothing was released"
        if len(self._laws) < n_events:
            return None, (
                "answers to queries, and what was released before the session was loaded, are "
                "not kept as laws"
            )
        if len(self._laws) == 1:
            # The prior's weights whatever the belief is now: the figure is of the whole session.
            return certified_membership(self._laws[0], space, space.weights), _UNHIDDEN
        gaussian: list[NoiseLaw] = []
        for law in self._laws:
            if isinstance(law, OneSidedLaw):
                return None, "padding and Gaussian noise are not certified together"
            gaussian += law.laws if isinstance(law, JointLaw) else (law,)
        return certified_membership(JointLaw(tuple(gaussian)), space, space.weights), _UNHIDDEN


_UNHIDDEN = "something was released without noise"


def curator_figure(
    certificate: SessionCertificate,
    space: SecretSpace,
    belief: Floats,
    implied: float,
    n_events: int,
    n_releases: int,
) -> CuratorFigure:
    """What the releases have told about memberships so far.

    Parameters
    ----------
    certificate : SessionCertificate
    space : SecretSpace
    belief : ndarray of shape (m,)
        After everything released.
    implied : float
        The published bound.
    n_events, n_releases : int
        Charges of the session, and releases in them.
    """
    certified, missing = certificate.under_all(space, n_events)
    weights, worst, total, n = belief / belief.sum(), 0.0, 0.0, 0
    # Subsets differ, so that some membership is secret.
    for start in range(0, space.n_units, _CHUNK):
        members = space.membership(slice(start, start + _CHUNK))
        likely = members[members.any(axis=1) & ~members.all(axis=1)] @ weights
        # Sums of m rounded weights leave [0, 1] by some units in the last place.
        sure = np.clip(np.maximum(likely, 1 - likely), 0.5, 1.0)
        worst, total, n = (
            max(worst, float(sure.max(initial=0.0))),
            total + sure.sum(),
            n + sure.size,
        )
    return CuratorFigure(
        blind=membership_prior(space)[0],
        implied=implied,
        laws=None if certified is None else certified.success,
        confidence=1 - GAMMA if certified is None else certified.confidence,
        missing="" if certified is not None else missing,
        worst=worst,
        average=total / n,
        n_releases=n_releases,
    )
