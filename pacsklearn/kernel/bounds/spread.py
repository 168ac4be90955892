"""How much releases move the probability of a set of candidates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, single_posteriors
from pacsklearn.kernel.bounds.overlap import form_bounds, probabilities

Singles = tuple[NDArray[np.float32], float]
"""Posteriors in single precision, and their error."""


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
    posteriors (:func:`~pacsklearn.kernel.bounds.overlap.form_bounds`).
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
        self._weights, self._second, self._n_sets = mixture.weights, second / n, n_sets

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
        variances = form_bounds(self._second, sets, signed=False, n_sets=self._n_sets)
        return variances, np.clip(probabilities(sets, self._weights), 0.0, 1.0)
