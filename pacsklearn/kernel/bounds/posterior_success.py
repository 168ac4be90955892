"""Success of any inference after a release, from mutual information, and back."""

from __future__ import annotations

import math

from pacsklearn._validation import as_nats, as_probability

# Relative error of `_kl` is below 20 units in the last place; this leaves a margin.
_SLACK = 2.0**-47
# Below this the divergence runs into subnormal numbers and loses its relative accuracy.
_LEAST_NATS = 1e-290


def posterior_success(mutual_information: float, prior: float = 0.5) -> float:
    """Bound the success of every inference by the mutual information.

    The largest ``r`` in ``[prior, 1]`` with
    ``r ln(r / q) + (1 - r) ln((1 - r) / (1 - q)) <= mutual_information``, where ``q`` is the prior.

    Parameters
    ----------
    mutual_information : float
        Nats, at least 0; may be infinite.
    prior : float, default=0.5
        Success of the best blind guess, in [0, 1].

    Returns
    -------
    float
        Probability, rounded outward: never below the exact solution, and above it by a few units
        in the last place. 1.0 once ``mutual_information >= -ln(prior)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or lies outside its range.

    Notes
    -----
    Source: pac-private-algorithms, equation 3. The equation is solved for the advantage ``r - q``,
    so tiny budgets lose no digits. A certain guess stays certain (``prior=1`` gives 1.0) and an
    impossible event stays impossible (``prior=0`` gives 0.0, whatever the mutual information).
    With no information at all the prior itself is returned.

    Examples
    --------
    >>> from pacsklearn.bounds import posterior_success
    >>> round(posterior_success(1 / 64), 5)
    0.58816
    >>> round(posterior_success(1 / 64, prior=0.01), 5)
    0.03213
    >>> f"{posterior_success(1e-18) - 0.5:.3e}"
    '7.071e-10'
    """
    budget = as_nats("mutual_information", mutual_information)
    q = as_probability("prior", prior)
    if budget == 0.0 or q in {0.0, 1.0}:
        return q
    # d(1 || q) = -ln q: from there on the bound allows certainty.
    if budget >= -math.log(q):
        return 1.0
    target = max(budget, _LEAST_NATS) * (1.0 + _SLACK)
    success = min(max(q + _advantage(target, q), math.nextafter(q, 1.0)), 1.0)
    # Outward: the first double whose divergence is not below the information.
    while success < 1.0 and binary_kl(success, q) < target:
        success = math.nextafter(success, 1.0)
    return success


def mutual_information_for_success(success: float, prior: float = 0.5) -> float:
    """Return the mutual information that still keeps every inference at or below ``success``.

    The inverse of :func:`posterior_success`.

    Parameters
    ----------
    success : float
        Posterior success that is tolerated, in ``[prior, 1]``.
    prior : float, default=0.5
        Success of the best blind guess, in [0, 1].

    Returns
    -------
    float
        Nats, rounded inward: never above the exact value. Infinite when ``prior`` is 0 and
        ``success`` is not, since no finite information makes an impossible event happen.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, lies outside [0, 1], or ``success < prior``.

    Notes
    -----
    Source: pac-private-algorithms, equation 3.

    Examples
    --------
    >>> from pacsklearn.bounds import mutual_information_for_success
    >>> round(mutual_information_for_success(0.75), 4)
    0.1308
    """
    # Equation 3 read the other way, rounded inward: whoever has so many nats stays below.
    r = as_probability("success", success)
    q = as_probability("prior", prior)
    if r < q:
        raise ValueError(
            f"success must be at least the prior, got success={r!r} and prior={q!r}; a release "
            "cannot make the best guess worse than a blind one."
        )
    # Rounded inward by more than the error of the divergence.
    return binary_kl(r, q) * (1.0 - _SLACK)


def binary_kl(r: float, q: float) -> float:
    """Return the Kullback-Leibler divergence between two coins, without cancellation.

    ``r ln(r / q) + (1 - r) ln((1 - r) / (1 - q))``, accurate to a few units in the last place even
    where ``r`` and ``q`` nearly agree and the two terms would cancel.

    Parameters
    ----------
    r, q : float
        Probabilities of heads, in [0, 1].

    Returns
    -------
    float
        Nats; infinite when ``q`` rules out an outcome that ``r`` allows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in [0, 1].

    Notes
    -----
    With ``phi(x) = (1 + x) ln(1 + x) - x`` and ``a = r - q`` the divergence is
    ``q phi(a / q) + (1 - q) phi(-a / (1 - q))``, a sum of two non-negative terms.

    Examples
    --------
    >>> from pacsklearn.bounds import binary_kl
    >>> round(binary_kl(1.0, 0.5), 6)
    0.693147
    >>> f"{binary_kl(0.5 + 1e-12, 0.5):.3e}"
    '2.000e-24'
    """
    r = as_probability("r", r)
    q = as_probability("q", q)
    return _gain(q, r, r - q) + _gain(1.0 - q, 1.0 - r, q - r)


def _advantage(target: float, q: float) -> float:
    """Return the smallest ``a`` (to rounding) at which the divergence reaches ``target``."""
    # Pinsker from above; from below, the divergence is at most a^2 / (q (1 - q)).
    high = min(math.sqrt(target / 2.0), 1.0 - q)
    low = min(math.sqrt(target) * math.sqrt(q) * math.sqrt(1.0 - q), high)
    while True:
        middle = math.sqrt(low) * math.sqrt(high)
        if not low < middle < high or high - low <= 4e-16 * high:
            return high
        if _gain(q, q + middle, middle) + _gain(1.0 - q, (1.0 - q) - middle, -middle) < target:
            low = middle
        else:
            high = middle


def _gain(old: float, new: float, change: float) -> float:
    """Return ``new ln(new / old) - change``, where ``change = new - old``, without loss."""
    if new <= 0.0:
        return old
    if old <= 0.0:
        return math.inf
    if abs(change) > 0.5 * old:
        # The quotient of a subnormal prior would overflow.
        log_ratio = math.log(new / old) if old > 1e-290 else math.log(new) - math.log(old)
        return new * log_ratio - change
    # ln(1 + x) = 2 artanh(s), s = x / (2 + x), turns phi into a fast, all but positive series.
    s = change / (new + old)
    square = s * s
    tail = 0.0
    for odd in range(37, 1, -2):
        tail = tail * square + 1.0 / odd
    return (new + old) * square * (1.0 + s * (1.0 + s) * tail)
