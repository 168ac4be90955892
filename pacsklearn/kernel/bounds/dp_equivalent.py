"""Differential privacy with the same membership bound, for comparison."""

from __future__ import annotations

import math

from pacsklearn._validation import as_probability


def dp_epsilon(success: float, delta: float = 0.0) -> float:
    """Return the epsilon of the (epsilon, delta)-DP mechanism with a given membership bound.

    Parameters
    ----------
    success : float
        Membership success that is allowed, in [0, 1].
    delta : float, default=0.0
        In [0, 1].

    Returns
    -------
    float
        ``ln((success - delta) / (1 - success))``, at least 0, and infinite when ``success`` is 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in [0, 1].

    Notes
    -----
    Source: pac-private-algorithms, equation 2. A comparison of one number: it does not make a
    release differentially private.

    Examples
    --------
    >>> from pacsklearn.bounds import dp_epsilon
    >>> round(dp_epsilon(0.58815), 2)
    0.36
    """
    r = as_probability("success", success)
    d = as_probability("delta", delta)
    if r == 1.0:
        return math.inf
    # r - (1 - r) is exact near 1/2, where the logarithm of the quotient would lose digits.
    excess = ((r - (1.0 - r)) - d) / (1.0 - r)
    return math.log1p(excess) if excess > 0.0 else 0.0
