"""The least noise power under the log-determinant bound."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from pacsklearn.information.arrays import Floats


def logdet_allocation(variances: Floats, budget: float) -> Floats:
    """Noise variances ``e`` minimising their sum subject to ``1/2 sum ln(1 + v_i/e_i) = budget``.

    Parameters
    ----------
    variances : ndarray of shape (k,)
        Positive signal variances ``v``.
    budget : float
        Nats.

    Returns
    -------
    ndarray of shape (k,)

    Notes
    -----
    The Lagrange condition is ``e_i (e_i + v_i) = t v_i / 2``, hence with ``x = v_i / t``:
    ``v_i / e_i = x + sqrt(x (x + 2))``, and ``t`` solves a decreasing scalar equation. Source:
    residual-pac, equation 2 and Proposition 2.

    Examples
    --------
    >>> import numpy as np
    >>> float(logdet_allocation(np.array([1.0]), np.log(2.0) / 2)[0])
    1.0
    """
    largest = float(np.max(variances))
    relative = variances / largest

    def ratios(log_t: float) -> Floats:
        x = relative * np.exp(-log_t)
        return np.asarray(x + np.sqrt(x * (x + 2)))

    def excess(log_t: float) -> float:
        return float(0.5 * np.sum(np.log1p(ratios(log_t))) - budget)

    # Exact for small budgets, where ln(1 + x + sqrt(x (x + 2))) is sqrt(2 x).
    guess = 2 * float(np.log(np.sum(np.sqrt(2 * relative)) / (2 * budget)))
    low, high = guess - 1.0, guess + 1.0
    while excess(low) < 0:
        low -= max(1.0, budget)
    while excess(high) > 0:
        high += 1.0
    root = brentq(excess, low, high, xtol=1e-14, rtol=1e-14)
    return np.asarray(variances / ratios(root))
