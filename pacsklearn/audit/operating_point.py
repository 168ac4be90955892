"""Members found at few false alarms, with exact intervals, and how many are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from pacsklearn._validation import as_nats, as_probability
from pacsklearn.audit.attack import Interval, share_interval
from pacsklearn.kernel.bounds.posterior_success import binary_kl


def verdict_information(true_positives: float, false_positives: float, prior: float) -> float:
    """Return the mutual information between a yes-or-no fact and a test for it.

    Parameters
    ----------
    true_positives, false_positives : float
        Chance that the test says yes where the fact holds, and where it does not.
    prior : float
        Chance that the fact holds.

    Returns
    -------
    float
        Nats.
    """
    yes = prior * true_positives + (1 - prior) * false_positives
    parts = ((prior, true_positives), (1 - prior, false_positives))
    return sum(weight * binary_kl(share, yes) for weight, share in parts if weight > 0)


def most_true_positives(
    mutual_information: float, false_positives: float, prior: float = 0.5
) -> float:
    """Return the largest share of members that any test finds at a given share of false alarms.

    Parameters
    ----------
    mutual_information : float
        Nats that the release reveals at most about the secret.
    false_positives : float
        Share of non-members that are called members.
    prior : float, default=0.5
        Chance of membership before the release.

    Returns
    -------
    float
        At least ``false_positives``; rounded upward.

    Notes
    -----
    The test's verdict is a function of the release, and membership of the secret, so their mutual
    information is at most that of secret and release (data processing). The bound is the largest
    true-positive rate whose :func:`verdict_information` is within it. At a rate of 1 in 1,000 it is
    far below what the bound on the success alone implies.

    Examples
    --------
    >>> f"{most_true_positives(1 / 64, 0.001):.4f}"
    '0.0503'
    >>> most_true_positives(float("inf"), 0.001)
    1.0
    """
    budget = as_nats("mutual_information", mutual_information)
    alarms = as_probability("false_positives", false_positives)
    share = as_probability("prior", prior)
    if share in {0.0, 1.0} or alarms == 1.0 or verdict_information(1.0, alarms, share) <= budget:
        return 1.0
    root = brentq(
        lambda hits: verdict_information(hits, alarms, share) - budget, alarms, 1.0, xtol=1e-12
    )
    # The divergences err by a few units in the last place; near the alarms the curve is flat.
    return min(float(root) + 1e-9, 1.0)


RATES = (0.001, 0.01)
"""False-positive rates that are aimed at."""


@final
@dataclass(frozen=True)
class OperatingPoint:
    """What an attack finds that hardly ever cries wolf. Round-trips JSON.

    Parameters
    ----------
    attack : str
    rate : float
        False-positive rate that the threshold was chosen for.
    n_members, n_found : int
        Counted rounds in which the unit was used, and those of them in which the attack said so.
    n_others, n_alarms : int
        Counted rounds in which it was not used, and false alarms among them.
    prior : float
        Chance that the unit is used.
    information : float or None
        Nats that the guarantee allows; None where it speaks of something else.
    sequential : bool
        Whether counting stopped early.

    Notes
    -----
    The threshold was chosen on rounds that are not counted, so both intervals are exact; the false
    alarms that were counted need not be at the rate that was aimed at. The bound is that for the
    largest rate of false alarms in their interval.
    """

    attack: str
    rate: float
    n_members: int
    n_found: int
    n_others: int
    n_alarms: int
    prior: float
    information: float | None
    sequential: bool = False

    def true_positive_rate(self, level: float) -> Interval:
        """Return the interval of the share of members that are found."""
        return share_interval(self.n_found, self.n_members, level, sequential=self.sequential)

    def false_positive_rate(self, level: float) -> Interval:
        """Return the interval of the share of non-members that are called members."""
        return share_interval(self.n_alarms, self.n_others, level, sequential=self.sequential)

    def allowed(self, level: float) -> float | None:
        """Return how many members may be found at the most false alarms in the interval.

        None where nothing is promised.
        """
        if self.information is None:
            return None
        alarms = self.false_positive_rate(level).high
        return most_true_positives(self.information, alarms, self.prior)

    def violates(self, level: float) -> bool:
        """Return whether the guarantee is refuted, with both intervals at ``level``."""
        allowed = self.allowed(level)
        return allowed is not None and self.true_positive_rate(level).low > allowed


def operating_points(
    attack: str,
    scores: ArrayLike,
    truth: ArrayLike,
    n_counted: int,
    *,
    prior: float,
    information: float | None,
    sequential: bool = False,
) -> tuple[OperatingPoint, ...]:
    """Return the points of an attack whose last ``n_counted`` rounds are counted.

    Parameters
    ----------
    attack : str
    scores : array-like of shape (n_rounds,)
        Larger for members; of all rounds, those played beforehand first.
    truth : array-like of shape (n_rounds,)
        Whether the unit was used.
    n_counted : int
        Rounds that are counted. Thresholds are chosen on the others.
    prior, information, sequential
        As for :class:`OperatingPoint`.

    Returns
    -------
    tuple of OperatingPoint
        Empty when there were no non-members beforehand to choose a threshold on.
    """
    scored: Any = np.asarray(scores, dtype=np.float64)
    true = np.asarray(truth, dtype=bool)
    first = len(scored) - n_counted
    before = np.sort(scored[:first][~true[:first]])[::-1]
    if before.size == 0:
        return ()
    inside = true[first:]

    def point(rate: float) -> OperatingPoint:
        # With k non-members above it a threshold is aimed at k of them; the largest at fewer.
        called = scored[first:] > before[int(rate * before.size)]
        members, others = int(inside.sum()), int((~inside).sum())
        hits, alarms = int((called & inside).sum()), int((called & ~inside).sum())
        return OperatingPoint(
            attack, rate, members, hits, others, alarms, prior, information, sequential
        )

    return tuple(map(point, RATES))
