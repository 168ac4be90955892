"""What a guess that is right too often says about the divergence of a release."""

from __future__ import annotations

import math

from scipy.special import xlog1py, xlogy

from pacsklearn._validation import as_probability


def refuted_divergence(success: float, blind: float, order: float) -> float:
    """Return Renyi divergence that some pair of secrets must have, if a guess is right so often.

    Parameters
    ----------
    success : float
        Of the guess, in [0, 1].
    blind : float
        Success of the best blind guess; 1/2 is taken to be that of naming one of two secrets.
    order : float
        Renyi order, above 1.

    Returns
    -------
    float
        In nats; infinite where the guess is always right.

    Notes
    -----
    Two secrets: a guess is right with ``s = (P(A) + Q(not A)) / 2``. Of all pairs of chances
    ``(q + 2 s - 1, q)`` the symmetric one, ``(s, 1 - s)``, has the least divergence in the worse
    direction, because the divergence is jointly quasi-convex (van Erven and Harremoes 2014,
    Theorem 13) and the two directions are mirror images. More secrets: divergences grow with the
    order, and that of order 1 is not below the information, which is not below the divergence
    between success and blind success.

    Examples
    --------
    >>> round(refuted_divergence(0.75, 0.5, 4.0), 4)
    0.9691
    """
    s, q = as_probability("success", success), as_probability("blind", blind)
    if s <= q:
        return 0.0
    if q != 0.5:
        return math.inf if q == 0 else float(xlogy(s, s / q) + xlog1py(1 - s, (q - s) / (1 - q)))
    if s == 1:
        return math.inf
    odds = math.log(s) - math.log1p(-s)
    # s^order (1 - s)^(1 - order), and the same for the other event.
    terms = math.log(s) + (order - 1) * odds, math.log1p(-s) - (order - 1) * odds
    total = terms[0] + math.log1p(math.exp(terms[1] - terms[0]))
    return total / (order - 1)
