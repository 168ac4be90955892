"""First and second moments of every candidate subset, from sums over its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.fitting.member_sums import member_products, member_sums
from pacsklearn.information.arrays import Floats

__all__ = ["Moments", "class_moments", "is_doubtful", "subset_moments"]

_LARGEST = 1e100
_EPSILON = float(np.finfo(np.float64).eps)
_DOUBT = 1e-10


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
        Mean of the squares, around zero.
    scatter : ndarray of shape (q, q), optional
        Sum of products around the mean.
    class_count : ndarray of shape (K,), optional
    class_mean, class_variance, class_square : ndarray of shape (K, p), optional
    loss : float
        How many times rounding errors grow where a mean is subtracted: the largest ratio of a
        mean square to a variance.
    """

    n_rows: int
    n_features: int
    mean: Floats
    variance: Floats
    square: Floats
    scatter: Floats | None = None
    class_count: Floats | None = None
    class_mean: Floats | None = None
    class_variance: Floats | None = None
    class_square: Floats | None = None
    loss: float = 1.0


def is_doubtful(*factors: float) -> bool:
    """Whether rounding errors, grown by all factors, could show in a fitted number."""
    return not float(np.prod(factors)) * _EPSILON <= _DOUBT


def subset_moments(
    X: Floats, targets: Floats | None, space: SecretSpace, *, scatter: bool
) -> Iterator[Moments | None]:
    """Moments of each candidate, in their order.

    Parameters
    ----------
    X : ndarray of shape (n_rows, p)
    targets : ndarray of shape (n_rows, t), optional
    space : SecretSpace
    scatter : bool
        Whether products of features are wanted.

    Yields
    ------
    Moments or None
        None for a subset with a row that is not finite or too large to be squared.

    Notes
    -----
    Rows outside a subset enter its sums with weight zero or not at all, so they leave them as they
    are, bit for bit; sums are taken around zero, the only origin that is public.
    """
    table, usable = _usable(X if targets is None else np.column_stack([X, targets]))
    spoilt = _spoilt(usable, space)
    with_ones = np.column_stack([np.ones(len(table)), table])
    products = None
    if scatter:
        products = member_products(with_ones, space)
        n_rows, sums = products[:, 0, 0], products[:, 0, 1:]
        squares = np.diagonal(products, axis1=1, axis2=2)[:, 1:]
    else:
        summed = member_sums(np.column_stack([with_ones, table**2]), space)
        n_rows, (sums, squares) = summed[:, 0], np.split(summed[:, 1:], 2, axis=1)
    for i, n in enumerate(n_rows):
        products_of = None if products is None else products[i, 1:, 1:]
        yield None if spoilt[i] else _moments(n, sums[i], squares[i], X.shape[1], products_of)


def class_moments(
    X: Floats, codes: NDArray[np.intp], space: SecretSpace, *, scatter: bool
) -> Iterator[Moments | None]:
    """As :func:`subset_moments`, with those of each class.

    Parameters
    ----------
    X : ndarray of shape (n_rows, p)
    codes : ndarray of shape (n_rows,)
        Class of each row, from 0 to K - 1. A subset without some class gives None.
    space : SecretSpace
    scatter : bool
        Whether products of features are wanted, of all classes together.
    """
    table, usable = _usable(X)
    spoilt = _spoilt(usable, space)
    columns = np.column_stack([np.ones(len(table)), table, table**2])
    summed = member_sums(columns, space, codes, int(codes.max()) + 1)
    counts, (sums, squares) = summed[:, :, 0], np.split(summed[:, :, 1:], 2, axis=2)
    products = member_products(table, space) if scatter else None
    for i, count in enumerate(counts):
        if spoilt[i] or not count.all():
            yield None
            continue
        products_of = None if products is None else products[i]
        moments = _moments(
            count.sum(), sums[i].sum(axis=0), squares[i].sum(axis=0), X.shape[1], products_of
        )
        mean, square = sums[i] / count[:, None], squares[i] / count[:, None]
        yield replace(
            moments,
            class_count=count,
            class_mean=mean,
            class_square=square,
            class_variance=square - mean**2,
        )


def _moments(
    n: float, sums: Floats, squares: Floats, n_features: int, products: Floats | None
) -> Moments:
    mean, square = sums / n, squares / n
    variance = square - mean**2
    return Moments(
        n_rows=int(n),
        n_features=n_features,
        mean=mean,
        variance=variance,
        square=square,
        scatter=None if products is None else products - n * np.outer(mean, mean),
        loss=_loss(square, variance),
    )


def _spoilt(usable: NDArray[np.bool_], space: SecretSpace) -> Floats:
    """How many rows of each candidate cannot be squared."""
    if usable.all():
        return np.zeros(space.n_subsets)
    return member_sums((~usable).astype(np.float64)[:, None], space)[:, 0]


def _usable(table: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Table with zeros for rows that cannot be squared, and which rows can."""
    usable = np.all(np.abs(table) <= _LARGEST, axis=1)
    return table if usable.all() else np.where(usable[:, None], table, 0.0), usable


def _loss(square: Floats, variance: Floats) -> float:
    there = square > 0
    with np.errstate(divide="ignore"):
        ratio = np.where(variance > 0, square / np.where(variance > 0, variance, 1.0), np.inf)
    return float(np.max(ratio[there], initial=1.0))
