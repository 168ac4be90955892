"""First and second moments of every candidate subset, from sums over its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.joint.member_sums import Memberships, member_products, member_sums, padded_columns
from pacsklearn.joint.table_fitter import TableView
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace

_LARGEST = 1e100
_EPSILON = float(np.finfo(np.float64).eps)
_DOUBT = 1e-10
_BY_CLASS = 3
_nothing = partial(np.empty, 0)


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the rows of one subset; columns of ``y`` that are numbers stand after ``X``'s.

    Parameters
    ----------
    n_rows, n_features : int
    mean : ndarray of shape (q,)
    variance : ndarray of shape (q,)
        Divided by the number of rows.
    square : ndarray of shape (q,)
        Mean of the squares, around zero; 0 for a column of one number, whose variance is exact.
    scatter : ndarray of shape (q, q)
        Sum of products around the mean.
    class_count : ndarray of shape (K,)
    class_mean, class_variance, class_square : ndarray of shape (K, p)
    class_scatter : ndarray of shape (K, p, p)
        Sum of products around the mean of the class. It, the scatter and what classes have are
        empty where a fitter does not want them.
    loss : float
        How many times rounding errors grow where a mean is subtracted: the largest ratio of a
        mean square to a variance.
    """

    n_rows: int
    n_features: int
    mean: Floats
    variance: Floats
    square: Floats
    scatter: Floats = field(default_factory=_nothing)
    class_count: Floats = field(default_factory=_nothing)
    class_mean: Floats = field(default_factory=_nothing)
    class_variance: Floats = field(default_factory=_nothing)
    class_square: Floats = field(default_factory=_nothing)
    class_scatter: Floats = field(default_factory=_nothing)
    loss: float = 1.0


def is_doubtful(*factors: float) -> bool:
    """Return whether rounding errors, grown by all factors, could show in a fitted number."""
    return not math.prod(factors) * _EPSILON <= _DOUBT


@final
@dataclass(frozen=True, eq=False)
class MomentSums:
    """Sums over the members' rows that moments follow from; those of parts of a table add up.

    Rows outside a subset enter its sums with weight zero or not at all, so they leave them as they
    are, bit for bit; sums are taken around zero, the only origin that is public.

    Parameters
    ----------
    n_features : int
    arrays : tuple of ndarray
        Rows of each candidate that cannot be squared, shape (m,); sums of ones, columns and
        squares, shape (m, 1 + 2 q), or (m, K, 1 + 2 q) with classes, and (m, 0) where the products
        hold them; products of all these columns, shape (m, q + 1, q + 1), or (m, 0), or
        (m, K, q + 1, q + 1) for each class.
    """

    n_features: int
    arrays: tuple[Floats, Floats, Floats]

    @classmethod
    def of(
        cls, X: Floats, targets: Floats | None, space: Memberships, *, scatter: bool
    ) -> MomentSums:
        """Return the sums of some rows."""
        parts = [X] if targets is None else [X, targets]
        table, usable = usable_rows(padded_columns(np.ones((len(X), 1)), *parts))
        q, none = sum(part.shape[1] for part in parts), np.zeros((space.n_subsets, 0))
        if scatter:
            arrays = (none, member_products(table, space)[:, : q + 1, : q + 1])
        else:
            arrays = (_sums_and_squares(table, q, space), none)
        return cls(X.shape[1], (spoilt_by(usable, space), *arrays))

    @classmethod
    def of_classes(
        cls,
        X: Floats,
        codes: NDArray[np.intp],
        n_classes: int,
        space: Memberships,
        *,
        scatter: bool,
        class_scatter: bool = False,
    ) -> MomentSums:
        """Return the sums of some rows, those of each class apart.

        Products too with ``class_scatter``.
        """
        table, usable = usable_rows(padded_columns(np.ones((len(X), 1)), X))
        products, q = np.zeros((space.n_subsets, 0)), X.shape[1]
        if class_scatter:
            # Rows of other classes are left out, whatever they hold.
            rows = (np.flatnonzero(codes == code) for code in range(n_classes))
            own = (member_products(table, space, each) for each in rows)
            products = np.stack(list(own), axis=1)[:, :, : q + 1, : q + 1]
        elif scatter:
            products = member_products(table, space)[:, : q + 1, : q + 1]
        summed = _sums_and_squares(table, q, space, codes, n_classes)
        return cls(q, (spoilt_by(usable, space), summed, products))

    def moments(self) -> Iterator[Moments | None]:
        """Yield the moments of each candidate.

        None for one with a row that cannot be squared, or no class.

        Yields
        ------
        Moments or None
        """
        spoilt, summed, products = self.arrays
        each: dict[str, Floats] = {}
        if summed.ndim == _BY_CLASS:
            spoilt = spoilt + np.any(summed[:, :, 0] == 0, axis=1)
            each = {f"class_{name}": own for name, own in _moments(summed, products).items()}
            summed = summed.sum(axis=1)
            products = products.sum(axis=1) if products.ndim > _BY_CLASS else products
        elif not summed.size:
            squares = np.diagonal(products, axis1=1, axis2=2)[:, 1:]
            summed = np.concatenate([products[:, 0], squares], axis=1)
        each |= _moments(summed, products)
        losses = _losses(each["square"], each["variance"])
        n_rows = each.pop("count")
        for i, bad in enumerate(spoilt):
            own = {name: values[i] for name, values in each.items()}
            yield (
                None
                if bad
                else Moments(int(n_rows[i]), self.n_features, loss=float(losses[i]), **own)
            )

    def exact(self, table: Floats, space: SecretSpace) -> Iterator[Moments | None]:
        """Yield moments as :meth:`moments`, exact in columns that are constant.

        Parameters
        ----------
        table : ndarray of shape (n_rows, q)
            All rows that were summed, columns of ``y`` that are numbers after ``X``'s.
        space : SecretSpace
        """
        for i, moments in enumerate(self.moments()):
            if moments is None or not is_doubtful(moments.loss):
                yield moments
                continue
            doubtful = np.flatnonzero(moments.square * _EPSILON > _DOUBT * moments.variance)
            own = table[space.rows(i)[:, None], doubtful]
            flat = np.all(own == own[0], axis=0)
            yield _with_constants(moments, doubtful[flat], own[0, flat])


def table_moments(arrays: Sequence[Any], view: TableView) -> Iterator[Moments | None]:
    """Yield moments of the arrays of sums over a table, exact in columns that are constant.

    One more pass is taken where a column may be: the same number in the whole sample.
    """
    first = view.rows[0]
    columns = np.flatnonzero(np.all(view.rows == first, axis=0) & (first != 0))
    if columns.size:
        (unlike,) = view.total(partial(_unlike, columns, first[columns]))
        columns = columns[unlike == 0]
    for moments in MomentSums(view.rows.shape[1], (arrays[0], arrays[1], arrays[2])).moments():
        if moments is not None and columns.size:
            yield _with_constants(moments, columns, first[columns])
        else:
            yield moments


def _unlike(columns: NDArray[np.intp], values: Floats, rows: Floats, *_: Any) -> list[Any]:
    """Return how many rows of a batch have other values in some columns."""
    return [np.sum(rows[:, columns] != values, axis=0)]


def _with_constants(moments: Moments, columns: NDArray[np.intp], values: Floats) -> Moments:
    """Return moments in which constant columns have exact means and no variance."""
    exact = {}
    for name in ("mean", "variance", "square", "scatter"):
        for key in (name, f"class_{name}"):
            numbers = getattr(moments, key)
            if not numbers.size:
                continue
            exact[key] = numbers = numbers.copy()
            numbers[..., columns] = values if name == "mean" else 0.0
            if name == "scatter":
                numbers[..., columns, :] = 0.0
    loss = float(_losses(exact["square"][None], exact["variance"][None])[0])
    return replace(moments, loss=loss, **exact)


def _moments(summed: Floats, products: Floats) -> dict[str, Floats]:
    """Return counts, means, variances, and scatter where products are of as many groups of rows."""
    count, (sums, squares) = summed[..., 0], np.split(summed[..., 1:], 2, axis=-1)
    with np.errstate(invalid="ignore"):  # of no rows at all
        mean, square = sums / count[..., None], squares / count[..., None]
    moments = {"count": count, "mean": mean, "square": square, "variance": square - mean**2}
    if products.ndim == mean.ndim + 1 and products.size:
        around = count[..., None, None] * mean[..., :, None] * mean[..., None, :]
        moments["scatter"] = np.subtract(products[..., 1:, 1:], around, out=around)
    return moments


def _sums_and_squares(table: Floats, q: int, space: Memberships, *classes: Any) -> Floats:
    """Return the sums of ones, of q columns, and of their squares.

    A table of whole rows is read fastest.
    """
    width = table.shape[1]
    summed = member_sums(table, space, *classes, squares=True)
    return summed[..., np.r_[0 : q + 1, width + 1 : width + q + 1]]


def spoilt_by(usable: NDArray[np.bool_], space: Memberships) -> Floats:
    """Return how many rows of each candidate cannot be squared."""
    if usable.all():
        return np.zeros(space.n_subsets)
    return member_sums((~usable).astype(np.float64)[:, None], space)[:, 0]


def usable_rows(table: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the table with zeros for rows that cannot be squared, and which rows can."""
    if not table.size or (table.min() >= -_LARGEST and table.max() <= _LARGEST):
        return table, np.ones(len(table), dtype=bool)
    usable = np.all(np.abs(table) <= _LARGEST, axis=1)
    return np.where(usable[:, None], table, 0.0), usable


def _losses(square: Floats, variance: Floats) -> Floats:
    """Return largest ratio of a mean square to a variance in each row; 1 where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(variance > 0, square / variance, np.inf)
    return np.asarray(np.max(np.where(square > 0, ratio, 1.0), axis=1, initial=1.0))
