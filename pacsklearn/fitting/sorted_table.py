"""A table whose features are sorted once, and bins of some of its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import binning_places


class SortedTable:
    """Features of all rows in order; any rows' own numbers are in the same order.

    Parameters
    ----------
    table : ndarray of float64, shape (n, p)
        With gaps (not a number).
    max_bins : int
        Bins a feature may have, without that of gaps.
    """

    def __init__(self, table: NDArray[np.float64], max_bins: int) -> None:
        self._n, self._max_bins, self._gaps = len(table), max_bins, np.isnan(table.T)
        self._features: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        for column, gaps in zip(table.T, self._gaps, strict=True):
            order = np.argsort(column, kind="stable")[: len(table) - np.count_nonzero(gaps)]
            self._features.append((order.astype(np.int32), column[order]))
        self._positions: dict[int, tuple[NDArray[np.float64], bool]] = {}

    def binned(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], list[NDArray[np.float64]]] | None:
        """Bins of rows and their thresholds, as histogram gradient boosting has them.

        Parameters
        ----------
        rows : ndarray of int, shape (n_rows,)
            Each once, in any order.

        Returns
        -------
        tuple of ndarray of uint8, shape (p, n_rows), and p ndarrays, or None
            Gaps are in bin ``max_bins``. None where a feature has no number.
        """
        from pacsklearn.fitting.boosting_kernel import bin_feature

        place = np.full(self._n, -1, np.int32)
        place[rows] = np.arange(len(rows))
        bins = np.full((len(self._features), len(rows)), self._max_bins, np.uint8)
        own, where = np.empty(self._n + 1), np.empty(self._n + 1, np.int32)
        cuts, thresholds = np.empty(self._max_bins - 1), []
        for column, gaps, feature in zip(bins, self._gaps, self._features, strict=True):
            taken = len(rows) - int(np.count_nonzero(gaps[rows]))
            if not taken:
                return None
            count = bin_feature(*feature, place, self._places(taken), cuts, own, where, column)
            thresholds.append(cuts[:count].copy())
        return bins, thresholds

    def _places(self, n: int) -> tuple[NDArray[np.float64], bool]:
        """Which of ``n`` sorted numbers part the bins, as scikit-learn has it."""
        if n not in self._positions:
            self._positions[n] = binning_places(n, self._max_bins)
        return self._positions[n]
