"""What a session's releases have told so far; for its curator only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, final

import numpy as np

from pacsklearn._sklearn_compat import one_blas_thread
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.noise.certified import GAMMA
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.release.certificate import (
    Certified,
    SessionCertificate,
    certified_membership,
)
from pacsklearn.kernel.secret.secret_space import SecretSpace

# Units whose memberships are unpacked at a time: m bytes each.
_CHUNK = 16384


@final
@dataclass(frozen=True)
class CuratorFigure:
    """Success at memberships after what an open session has released. Not to be published.

    A figure found out afterwards depends on what came out. Whoever publishes it only where it is
    small, or stops at a good moment, promises something else than the figure says; what may be
    published is in the session's ``guarantee_``.

    Parameters
    ----------
    blind : float
        Success of guessing the least protected unit's membership blindly.
    implied : float
        Bound that follows from the session's budget; the published one.
    laws : float or None
        Bound on the optimal adversary's success at the worst unit under the very noise of the
        releases so far, as though all of it had been fixed beforehand.
    confidence : float
        Probability that ``laws`` holds.
    missing : str
        Why ``laws`` is None.
    worst, average : float
        How sure the optimal adversary is of a unit's membership after what was released: of the
        unit she is surest of, and on average over units.
    n_releases : int
    """

    blind: float
    implied: float
    laws: float | None
    confidence: float
    missing: str
    worst: float
    average: float
    n_releases: int

    def __str__(self) -> str:
        certified = f"none: {self.missing}"
        if self.laws is not None:
            certified = f"at most {percent_up(self.laws)} % at confidence {self.confidence:.8g}"
        return "\n".join(
            [
                f"FOR THE CURATOR ONLY, not to be published: {self.n_releases} release(s) so far",
                "",
                f"  {'guessing blindly':<23}{percent_up(self.blind)} %",
                f"  {'published bound':<23}at most {percent_up(self.implied)} %",
                f"  {'under the noise used':<23}{certified}",
                (
                    f"  {'as it came out':<23}sure to {percent_up(self.worst)} % of one unit, to "
                    f"{percent_up(self.average)} % on average"
                ),
            ]
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A CuratorFigure is for the curator's eyes and cannot be pickled or copied; what may "
            "be published is the session's guarantee_."
        )


def curator_figure(
    certificate: SessionCertificate,
    space: SecretSpace,
    belief: Floats,
    implied: float,
    n_events: int,
    n_releases: int,
) -> CuratorFigure:
    """Return what the releases have told about memberships so far.

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
    certified, missing = certified_under_all(certificate, space, n_events)
    weights, worst, total, n = belief / belief.sum(), 0.0, 0.0, 0
    # Subsets differ, so that some membership is secret.
    for start in range(0, space.n_units, _CHUNK):
        members = space.membership(slice(start, start + _CHUNK))
        likely = members[members.any(axis=1) & ~members.all(axis=1)] @ weights
        # Sums of m rounded weights leave [0, 1] by some units in the last place.
        sure = np.clip(np.maximum(likely, 1 - likely), 0.5, 1.0)
        worst = max(worst, float(sure.max(initial=0.0)))
        total, n = total + sure.sum(), n + sure.size
    return CuratorFigure(
        blind=space.membership_prior()[0],
        implied=implied,
        laws=None if certified is None else certified.success,
        confidence=1 - GAMMA if certified is None else certified.confidence,
        missing="" if certified is not None else missing,
        worst=worst,
        average=total / n,
        n_releases=n_releases,
    )


def certified_under_all(
    certificate: SessionCertificate, space: SecretSpace, n_events: int
) -> tuple[Certified | None, str]:
    """Certify the laws used so far as though they had been fixed beforehand; or say why not."""
    used = certificate.used
    if n_events == 0:
        return None, "nothing was released"
    if len(used) < n_events:
        return None, (
            "answers to queries, and what was released before the session was loaded, are not kept "
            "as laws"
        )
    law = used[0]
    if len(used) > 1:
        if any(one.channel is not None for one in certificate.laws):
            return None, "padding and Gaussian noise are not certified together"
        law = JointLaw(certificate.laws)
    # The prior's weights whatever the belief is now: the figure is of the whole session.
    with one_blas_thread():
        certified = certified_membership(law, space, space.weights)
    return certified, "something was released without noise"
