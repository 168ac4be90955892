"""How much releases move the probability of a set of candidates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, single_posteriors
from pacsklearn.kernel.bounds.overlap import wide_factors

Singles = tuple[NDArray[np.float32], float]
"""Posteriors in single precision, and their error."""

# Entries of a table that stays in the cache.
_CELLS = 2**18


@final
class Spread:
    """How much the probability of any set of candidates changes, from draws of releases.

    Parameters
    ----------
    mixture : GaussianMixture
    blocks : iterable of MixtureDraws
    n_sets : int
        How many will be asked for.
    kept : list, optional
        Gets the posteriors of each block, of shape (n, m), in single precision.

    Attributes
    ----------
    error : float
        By how much any one change of a probability may be wrong.

    Notes
    -----
    A set ``a`` has the variance ``a' S a``, with ``S`` the second moments of the candidates'
    posteriors. Of many sets each is multiplied with the wide eigenvectors of ``S`` alone, in single
    precision, and what this may leave out is added (:func:`wide_factors`).
    """

    def __init__(
        self,
        mixture: GaussianMixture,
        blocks: Iterable[MixtureDraws],
        n_sets: int,
        kept: list[Singles] | None = None,
    ) -> None:
        m = mixture.weights.size
        second, n, self.error = np.zeros((m, m)), 0, 0.0
        for draws in blocks:
            single, wrong = single_posteriors(mixture, draws)
            self.error = max(self.error, wrong)
            if kept is not None:
                kept.append((single, wrong))
            change = single.astype(np.float64)
            change -= mixture.weights
            second += change.T @ change
            n += len(change)
        second /= n
        self._weights = mixture.weights
        self._factors, self._rest, self._wrong = wide_factors(second, n_sets)
        self._is_whole = self._factors is second

    def of(self, sets: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the mean squared change of the probability of each set, and its prior.

        Parameters
        ----------
        sets : ndarray of bool, shape (t, m)

        Returns
        -------
        variances : ndarray of shape (t,)
            Means over the draws of ``(P(set | y) - P(set))^2``, or a little more, never less.
        rates : ndarray of shape (t,)
            ``P(set)``.
        """
        variances, rates = np.empty(len(sets)), np.empty(len(sets))
        step = max(1, _CELLS // self._weights.size)
        for start in range(0, len(sets), step):
            some = sets[start : start + step]
            inside = some.astype(self._factors.dtype)
            part = inside @ self._factors
            squares = np.einsum("ij,ij->i", part, inside if self._is_whole else part)
            squares = squares.astype(np.float64) * (1 + self._wrong)
            variances[start : start + step] = squares + self._rest
            rates[start : start + step] = some @ self._weights
        return variances, np.clip(rates, 0.0, 1.0)
