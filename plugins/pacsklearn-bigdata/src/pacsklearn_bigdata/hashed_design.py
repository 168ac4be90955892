"""Candidate subsets that every unit of a table picks by itself: a keyed function of its name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import as_inner_share, check_integer, is_whole
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.packed_subsets import unpack_subset
from pacsklearn.universe.balanced_space import included_subsets
from pacsklearn.universe.design import SubsetSeed
from pacsklearn.universe.frame import is_missing
from pacsklearn_bigdata.hashed_kernel import fill_memberships


@final
@dataclass(frozen=True, eq=False)
class BatchMembers:
    """Memberships of a batch's rows; secret where the design's key is.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n_rows, ceil(m / 8))
    n_subsets : int
    """

    packed: NDArray[np.uint8] = field(repr=False)
    n_subsets: int
    unit_of_row: None = None

    def rows(self, index: int) -> NDArray[np.int64]:
        """Return the row indices of candidate ``index``, increasing."""
        return unpack_subset(self.packed, index)

    def membership(self, units: Any = slice(None)) -> NDArray[np.bool_]:
        """Return which candidates hold each of the rows; shape (n_chosen, m)."""
        return np.unpackbits(self.packed[units], axis=1, count=self.n_subsets).astype(bool)


@final
@dataclass(frozen=True, eq=False)
class HashedDesign:
    """Every unit is in exactly ``rate * n_subsets`` candidates, picked by a keyed function of it.

    No state is shared: a batch is enough to know its rows' memberships, on any machine that has
    the key.

    Parameters
    ----------
    key : bytes of length 32
    n_subsets, included : int
        Candidates, and how many of them a unit is in.

    Notes
    -----
    A unit's candidates are uniform among all choices of that many, and independent of any other
    unit's, up to the security of ChaCha20. Classes are not dealt evenly, as balanced designs deal
    them: in large tables shares differ little by themselves.
    """

    key: bytes = field(repr=False)
    n_subsets: int
    included: int

    @classmethod
    def of(cls, seed: int | SubsetSeed, n_subsets: int = 128, rate: float = 0.5) -> Self:
        """Return the design of a public seed, or a secret one."""
        check_integer(name="n_subsets", value=n_subsets, minimum=2, maximum=2**20)
        number = seed.reveal() if isinstance(seed, SubsetSeed) else seed
        encoded = number.to_bytes(-(-number.bit_length() // 8) or 1, "big")
        key = hashlib.blake2b(encoded, digest_size=32, person=b"pacsklearn unit").digest()
        return cls(key, n_subsets, included_subsets(as_inner_share("rate", rate), n_subsets))

    def members(self, names: NDArray[np.uint64]) -> BatchMembers:
        """Return the memberships of units by their names."""
        packed = np.zeros((names.size, -(-self.n_subsets // 8)), dtype=np.uint8)
        words = np.frombuffer(self.key, dtype="<u4").astype(np.uint32)
        fill_memberships(words, names, self.n_subsets, self.included, packed)
        return BatchMembers(packed, self.n_subsets)


def unit_names(units: ArrayLike) -> NDArray[np.uint64]:
    """Return names of units as 64 bits each: whole numbers are themselves, anything else is hashed.

    Raises
    ------
    DesignError
        For a missing value, numbers that are not whole, or anything else: a date, say, or bytes
        may be written in two ways, and one unit would be two.
    """
    column = np.asarray(units)
    if column.dtype.kind in "iub":
        return column.astype(np.int64 if column.dtype.kind == "i" else np.uint64).view(np.uint64)
    values = column.tolist()
    if any(map(is_missing, values)):
        raise DesignError("unit must name a unit for every row, got a missing value.")
    if column.dtype.kind == "f":
        raise DesignError(
            "unit must be a column of whole numbers or of texts, got floating-point numbers; "
            "rounding would join units."
        )
    words = []
    for value in values:
        is_named = isinstance(value, str) or is_whole(value)
        if not is_named or column.dtype.kind not in "OUT":  # times would be whole numbers by now
            kind = type(value).__name__ if column.dtype.kind == "O" else column.dtype
            raise DesignError(
                "unit must be a column of whole numbers or of texts, got values of the type "
                f"{kind}; make them texts where the table is made."
            )
        # 64 bits: that any two of a billion units share a name has a chance of 1 in 37.
        words.append(hashlib.blake2b(str(value).encode(), digest_size=8).digest())
    return np.frombuffer(b"".join(words), dtype="<u8").astype(np.uint64)
