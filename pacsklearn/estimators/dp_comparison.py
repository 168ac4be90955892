"""Success under differential privacy, and how many answers reach it, for comparison."""

from __future__ import annotations

import math

from pacsklearn._validation import as_nats, as_probability
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success


def dp_success(epsilon: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Bound the membership success against an (epsilon, delta)-DP mechanism.

    Parameters
    ----------
    epsilon : float
        At least 0; may be infinite.
    delta : float, default=0.0
        In [0, 1].
    prior : float, default=0.5
        Inclusion rate, or success of the best blind guess; ``q`` is the larger of ``prior`` and
        ``1 - prior``.

    Returns
    -------
    float
        ``max(1 - (1 - delta) / (1 + e^epsilon), q + (1 - q) delta)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or lies outside its range.

    Notes
    -----
    A membership test has a false positive rate x and a false negative rate y, and succeeds with
    probability ``1 - (share out) x - (share in) y``. Under (epsilon, delta)-DP the point (x, y)
    lies in a polygon, and a linear function is largest at one of its corners. At the symmetric
    corner x = y = ``(1 - delta) / (1 + e^epsilon)``, so there the success is 1 - x **whatever the
    prior**: the two shares add up to one. At the outer corners the test never errs on one side
    (x = 0, y = 1 - delta, or the reverse) and succeeds with at most ``q + (1 - q) delta``, which
    is the larger one only when the prior is already lopsided. Source: pac-private-algorithms,
    equation 2, which is the case ``prior = 1/2``.

    Examples
    --------
    >>> from pacsklearn.bounds import dp_success
    >>> round(dp_success(1.0, 1e-5), 4)
    0.7311
    >>> dp_success(0.1, prior=0.9)
    0.9
    """
    e = as_nats("epsilon", epsilon)
    d = as_probability("delta", delta)
    q = as_probability("prior", prior)
    q = max(q, 1.0 - q)
    odds = math.exp(-e)
    return max((1.0 + d * odds) / (1.0 + odds), q + (1.0 - q) * d)


def answers_until(success: float, nats_per_answer: float, prior: float = 0.5) -> int:
    """Return the answers that can be given before the membership bound passes ``success``.

    Parameters
    ----------
    success : float
        Membership success that is tolerated, in ``[prior, 1]``.
    nats_per_answer : float
        Mutual information charged for each answer, positive.
    prior : float, default=0.5
        Success of the best blind guess, in (0, 1].

    Returns
    -------
    int
        Largest T with ``posterior_success(T * nats_per_answer, prior) <= success``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or lies outside its range, or if no number of answers
        reaches ``success``.

    Notes
    -----
    Charges of one session add up: pac-private-responses, Theorem 3.3 and Table 1.

    Examples
    --------
    >>> from pacsklearn.bounds import answers_until, dp_success
    >>> answers_until(dp_success(1.0, 1e-5), 2**-8)
    28
    """
    nats = as_nats("nats_per_answer", nats_per_answer)
    if not 0.0 < nats < math.inf:
        raise ValueError(
            f"nats_per_answer must be positive and finite, got {nats!r}; answers that cost "
            "nothing can be given without end."
        )
    quotient = mutual_information_for_success(success, prior) / nats
    if not math.isfinite(quotient):
        raise ValueError(
            f"No number of answers at nats_per_answer={nats!r} reaches success={success!r} from "
            f"prior={prior!r}; give a success below 1, or more nats for each answer."
        )
    return math.floor(quotient)
