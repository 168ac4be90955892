"""Hits that few false alarms allow, from mutual information."""

from __future__ import annotations

from pacsklearn._validation import as_nats, as_probability
from pacsklearn.kernel.bounds.posterior_success import binary_kl

_STEPS = 200


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
    low, high = alarms, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if verdict_information(middle, alarms, share) <= budget:
            low = middle
        else:
            high = middle
    # The divergences err by a few units in the last place; near the alarms the curve is flat.
    return min(high + 1e-9, 1.0)
