"""Prior success of guessing the membership of many rows at once."""

from __future__ import annotations

from scipy.stats import hypergeom

from pacsklearn._validation import check_integer


def k_of_n_prior(n: int, k: int, n_included: int | None = None) -> float:
    """Return the blind success at naming ``n_included`` rows of which at least ``k`` were used.

    The subset holds ``n_included`` of ``n`` rows, uniformly at random; the adversary names equally
    many rows and succeeds when at least ``k`` of them are in the subset. Feed the result to
    :func:`~pacsklearn.bounds.posterior_success` as ``prior``.

    Parameters
    ----------
    n : int
        Rows in the universe, at least 1.
    k : int
        Rows that must be right, at least 0.
    n_included : int, optional
        Rows in the subset, 0 to ``n``; ``n / 2`` when not given, and then ``n`` must be even.

    Returns
    -------
    float
        Upper tail of a hypergeometric distribution; 0.0 when ``k > n_included``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer, or lies outside its range.

    Notes
    -----
    Source: pac-private-algorithms, section 8.2, equation 6. The prior is that of a subset drawn
    from *all* subsets of the size. Against a finite list of m known candidates an adversary who
    names one whole candidate is right with probability 1/m, so there the prior of this criterion
    is at least ``1 / m``.

    Examples
    --------
    >>> from pacsklearn.bounds import k_of_n_prior, posterior_success
    >>> round(k_of_n_prior(100, 32), 5)
    0.00449
    >>> round(posterior_success(1.0, prior=k_of_n_prior(100, 35)), 4)
    0.1456
    """
    n = check_integer(name="n", value=n, minimum=1)
    k = check_integer(name="k", value=k, minimum=0)
    if n_included is None:
        if n % 2:
            raise ValueError(
                f"n must be even when n_included is not given, got {n}; say how many rows the "
                "subset holds with n_included."
            )
        n_included = n // 2
    n_included = check_integer(name="n_included", value=n_included, minimum=0)
    if n_included > n:
        raise ValueError(f"n_included must be at most n={n}, got {n_included}.")
    return float(hypergeom.sf(k - 1, n, n_included, n_included))
