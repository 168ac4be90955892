"""Certified figures of a session: the one that is published, and the curator's."""

from __future__ import annotations

import numpy as np

from pacsklearn.core.curator_figure import CuratorFigure
from pacsklearn.core.joint_law import JointLaw
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.one_sided_law import OneSidedLaw
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.information.arrays import Floats
from pacsklearn.noise.certified import GAMMA
from pacsklearn.release.certified import Certified, Law, certified_membership
from pacsklearn.release.statement import membership_prior
from pacsklearn.tables.hashed_space import Space

LATER = (
    "none for all releases together: the noise of the later ones depends on what came out before, "
    "and so would the figure. Releases that are planned together (release_planned) have one"
)
_CHUNK = 16384


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
