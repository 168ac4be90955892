"""All candidates' nearest neighbours at once: one list of the table's distinct rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn._sklearn_compat import neighbors_table, safe_indexing
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor


def distinct_rows(tables: Iterable[Floats]) -> tuple[Floats, list[NDArray[np.intp]]]:
    """Return the rows that differ in some bit, and where each table's rows stand among them."""
    places: dict[bytes, int] = {}
    held = [
        np.array([places.setdefault(row.tobytes(), len(places)) for row in table], dtype=np.intp)
        for table in tables
    ]
    return np.frombuffer(b"".join(places)).reshape(len(places), -1), held


# Standard deviations by which a list is longer than an average candidate needs.
_BEYOND = 5
# Bounds the rounding errors of two squared distances here and two in a candidate's own search, by
# products of matrices or by differences: a multiple of columns + 2 and of the rows' squares.
_ROUNDING = 64 * 2.0**-52
# Entries of a table of queries and candidates, or rows, that stay in the cache.
_CELLS = 2**16


@final
@dataclass(frozen=True, eq=False)
class StackedNeighbors(BatchPredictor):
    """Votes of each candidate's nearest rows, found in one list for all candidates.

    The rows of all candidates stand in one table, each with its label and how often a candidate
    holds it. The rows nearest to a query are walked until a candidate has met enough of its own.
    Candidates are asked themselves where rounding, or rows of other labels that are equally far,
    decides which votes count.

    Parameters
    ----------
    models : tuple of m fitted KNeighborsClassifier
    rows : ndarray of shape (n, p)
        Distinct, or with distinct labels.
    squares : ndarray of shape (n,)
        Of the rows' lengths.
    codes : ndarray of int, shape (n,)
        Of their labels.
    held : ndarray of shape (n, m)
        How often each candidate holds each row.
    """

    name = "stacked_neighbors"
    description = "nearest neighbours of all candidates in one list of the table's rows"
    estimators = ("sklearn.neighbors.KNeighborsClassifier",)
    models: tuple[Any, ...] = field(repr=False)
    rows: Floats = field(repr=False)
    squares: Floats = field(repr=False)
    codes: NDArray[np.intp] = field(repr=False)
    held: NDArray[np.uint16] = field(repr=False)

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedNeighbors | None:
        if not all(_is_plain(model, models[0].classes_) for model in models):
            return None
        labelled = (np.column_stack(neighbors_table(model)) for model in models)
        table, held_by = distinct_rows(labelled)
        rows = np.ascontiguousarray(table[:, :-1])
        held = np.zeros((len(rows), len(models)), dtype=np.uint16)
        for index, own in enumerate(held_by):
            held[:, index] = np.bincount(own, minlength=len(rows))
        squares = np.einsum("ij,ij->i", rows, rows)
        return cls(models, rows, squares, table[:, -1].astype(np.intp), held)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the class codes of shape (m, n)."""
        queries, m = double_rows(X), len(self.models)
        if queries is None:
            return np.stack([self._own(index, X) for index in range(m)])
        codes, doubtful = np.empty((2, m, len(queries)), dtype=np.int32)
        step = max(1, _CELLS // max(len(self.rows), m))
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            codes[:, part], doubtful[:, part] = self._votes(queries[part])
        for index in np.flatnonzero(doubtful.any(axis=1)):
            some = np.flatnonzero(doubtful[index])
            codes[index, some] = self._own(int(index), safe_indexing(X, some))
        return codes

    def _own(self, index: int, X: Any) -> NDArray[np.int32]:
        model = self.models[index]
        return np.searchsorted(model.classes_, model.predict(X)).astype(np.int32)

    @property
    def _length(self) -> int:
        """Rows of a list in which nearly every candidate has enough of its own."""
        share = min(float(np.count_nonzero(self.held)) / self.held.size, 1.0)
        needed = self.models[0].n_neighbors
        # Where the mean number of a candidate's rows is so many deviations above what it needs.
        slack = _BEYOND * math.sqrt(share * (1 - share))
        root = (slack + math.sqrt(slack**2 + 4 * share * needed)) / (2 * share)
        return min(math.ceil(root**2), len(self.rows))

    def _votes(self, queries: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the codes, and which candidates have to be asked themselves.

        Each of shape (m, queries).
        """
        needed, length = self.models[0].n_neighbors, self._length
        ends_early = length < len(self.rows)
        every = np.arange(len(queries))[:, None]
        far = self.squares - 2 * (queries @ self.rows.T)
        nearest = np.argpartition(far, length - 1, axis=1)[:, :length]
        nearest = nearest[every, np.argsort(far[every, nearest], axis=1)]
        far, codes = far[every, nearest], self.codes[nearest]
        met = np.zeros((len(queries), self.held.shape[1]), dtype=np.uint16)
        votes = np.zeros((len(queries), len(self.models[0].classes_), met.shape[1]), np.uint16)
        # The last row may be as far as those beyond the list.
        for place in range(length - ends_early):
            counted = np.minimum(self.held[nearest[:, place]], needed - met)
            met += counted
            votes[every[:, 0], codes[:, place]] += counted
            if place + 1 >= needed and met.min() == needed:
                break
        doubtful = met < needed
        # Rows of one group may stand in another order in a candidate's own search.
        longest = np.einsum("ij,ij->i", queries, queries) + self.squares[nearest].max(axis=1)
        rounding = _ROUNDING * (queries.shape[1] + 2) * longest
        joined = np.diff(far, axis=1) <= rounding[:, None]
        of_other = joined & (codes[:, 1:] != codes[:, :-1])
        if ends_early and length > 1:  # rows beyond the list may have other labels
            of_other[:, -1] = joined[:, -1]
        some = np.flatnonzero(of_other.any(axis=1))
        if some.size:
            doubtful[some] |= self._depends_on_order(nearest[some], joined[some], of_other[some])
        return votes.argmax(axis=1).T, doubtful.T

    def _depends_on_order(
        self, nearest: NDArray[np.intp], joined: NDArray[np.bool_], of_other: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return for which candidates a part of a group of several labels has votes.

        Parameters
        ----------
        nearest : ndarray of int, shape (q, length)
        joined, of_other : ndarray of bool, shape (q, length - 1)
            Whether a row and the next one are of one group, and may have different labels.

        Returns
        -------
        ndarray of bool, shape (q, m)
        """
        needed, (q, length) = self.models[0].n_neighbors, nearest.shape
        first = np.zeros((q, length), dtype=np.intp)
        np.maximum.accumulate(np.where(joined, 0, np.arange(1, length)), axis=1, out=first[:, 1:])
        mixed = np.zeros((q, length), dtype=np.bool_)
        where, at = np.nonzero(of_other)
        mixed[where, first[where, at]] = True
        every = np.arange(q)[:, None]
        mixed = mixed[every, first]
        met = np.cumsum(self.held[nearest], axis=1, dtype=np.int32)
        before = np.concatenate([np.zeros_like(met[:, :1]), met[:, :-1]], axis=1)[every, first]
        partly = mixed[:, :, None] & (met > needed)
        if length < len(self.rows):
            partly[:, -1] = True
        return np.any(partly & (before < needed), axis=1)


def _is_plain(model: Any, classes: NDArray[Any]) -> bool:
    """Return whether each of the nearest rows, by Euclidean distance, has one vote."""
    return (
        type(model) is KNeighborsClassifier
        and model.weights == "uniform"
        and model.effective_metric_ == "euclidean"
        and neighbors_table(model) is not None
        and np.array_equal(model.classes_, classes)
    )
