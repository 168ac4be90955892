"""Members found at few false alarms, with exact intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.audit.attack import Interval, share_interval
from pacsklearn.audit.bounds.operating_point import most_true_positives

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
    points = []
    for rate in RATES:
        # With k non-members above it a threshold is aimed at k of them; the largest at fewer.
        called = scored[first:] > before[int(rate * before.size)]
        inside = true[first:]
        points.append(
            OperatingPoint(
                attack,
                float(rate),
                int(inside.sum()),
                int((called & inside).sum()),
                int((~inside).sum()),
                int((called & ~inside).sum()),
                prior,
                information,
                sequential,
            )
        )
    return tuple(points)
