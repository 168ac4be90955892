"""Memberships of units in candidate subsets, a bit each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer

Bytes = NDArray[np.uint8]

# Units that are looked at together: nearly always the first few tell all subsets apart.
_UNITS = 512


def unpack_subset(packed: Bytes, i: int) -> NDArray[np.int64]:
    """Return the units in candidate subset ``i``.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_units, n_bytes)
        Bit ``i`` of row ``u``: is unit u in subset i?
    i : int
        Subset, 0 to ``8 * n_bytes - 1``. Only one byte of each row is read.

    Returns
    -------
    ndarray of int64
        Increasing unit indices.

    Raises
    ------
    ValueError
        If ``i`` is not an integer in the range.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import unpack_subset
    >>> unpack_subset(np.packbits([[1, 0], [1, 1], [0, 1]], axis=1), 1)
    array([1, 2])
    """
    i = check_integer(name="i", value=i, minimum=0, maximum=8 * packed.shape[1] - 1)
    # As truth values: quicker to search than bytes.
    held = (packed[:, i >> 3] & np.uint8(128 >> (i & 7))).astype(bool)
    return np.flatnonzero(held).astype(np.int64, copy=False)


def inclusion_counts(packed: Bytes) -> NDArray[np.int64]:
    """Count the candidate subsets each unit is in.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_units, n_bytes)
        Bit ``i`` of row ``u``: is unit u in subset i?

    Returns
    -------
    ndarray of int64, shape (n_units,)

    Examples
    --------
    >>> from pacsklearn.bounds import balanced_design, inclusion_counts
    >>> inclusion_counts(balanced_design(4, 16, 8))
    array([8, 8, 8, 8])
    """
    return np.asarray(np.bitwise_count(packed).sum(axis=1, dtype=np.int64))


def distinct_subsets(packed: Bytes, n_subsets: int) -> NDArray[np.int64]:
    """Number the subsets, so that those that are one and the same share a number.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_units, ceil(n_subsets / 8))
    n_subsets : int

    Returns
    -------
    ndarray of int64, shape (n_subsets,)
        Number of each subset among the distinct ones, which are numbered as they first appear.

    Examples
    --------
    >>> distinct_subsets(np.packbits([[1, 0, 1], [0, 1, 0]], axis=1), 3).tolist()
    [0, 1, 0]
    """
    numbers = np.zeros(n_subsets, dtype=np.int64)
    for start in range(0, packed.shape[0], _UNITS):
        part = np.unpackbits(packed[start : start + _UNITS], axis=1, count=n_subsets)
        # Apart so far, or apart in these units: numbers only ever split.
        keys = np.hstack([numbers[:, None].view(np.uint8), np.packbits(part.T, axis=1)])
        _, first, numbers = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[numbers.reshape(-1)]
        if first.size == n_subsets:
            break
    return numbers


def distinct_units(packed: Bytes) -> NDArray[np.intp]:
    """Return the first unit of each pattern of membership, increasing.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_units, n_bytes)

    Examples
    --------
    >>> distinct_units(np.packbits([[1, 0, 1], [0, 1, 0], [1, 0, 1]], axis=1))
    array([0, 1])
    """
    words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)
    # Equal patterns have equal sums, and sums sort faster than patterns; mostly none are equal.
    sums = np.sort(words @ np.arange(1, 2 * words.shape[1], 2, dtype=np.uint64))
    if np.all(sums[1:] != sums[:-1]):
        return np.arange(sums.size)
    # Bytes sort faster than void; of one width, none are equal for the zeros at their ends.
    patterns = np.ascontiguousarray(packed).view(f"S{packed.shape[1]}").ravel()
    return np.sort(np.unique(patterns, return_index=True)[1])
