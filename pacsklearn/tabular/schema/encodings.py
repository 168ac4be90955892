"""Encodings of one column into numbers, each a public function of the single value."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import murmurhash3_32

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.values import MISSING, OUTSIDE, as_words

Mask = NDArray[np.bool_]

_WORD = re.compile(r"\w+")


class Encoded(NamedTuple):
    """Features of one column, and which values were missing or outside the schema.

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n_rows, n_features)
    missing, outside : ndarray of bool of shape (n_rows,)
    """

    features: Any
    missing: Mask
    outside: Mask


class Encoding(ABC):
    """How the values of one column become features."""

    def __init__(self, column: Column, n_bins: int, text_features: int) -> None:
        self.column = column

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the features."""

    @abstractmethod
    def encode(self, values: Any) -> Encoded:
        """Return the features of the values."""


class _OfNumbers(Encoding):
    """Numbers and dates; a value outside the range is moved to its nearer end."""

    def __init__(self, column: Column, n_bins: int, text_features: int) -> None:
        super().__init__(column, n_bins, text_features)
        self.low, self.high = column.bounds
        self.cuts = column.cuts(n_bins)

    def encode(self, values: Any) -> Encoded:
        numbers, strange = self.column.read(values)
        missing = np.isnan(numbers)
        filled = np.where(missing, (self.low + self.high) / 2, numbers)
        # Edges given without a range bound nothing: the outer bins are open.
        low = -np.inf if self.column.low is None else self.low
        high = np.inf if self.column.high is None else self.high
        outside = strange | (filled < low) | (filled > high)
        return Encoded(self.features(np.clip(filled, low, high)), missing, outside)

    @property
    def bounds(self) -> list[str]:
        """Bounds between bins, for names; the day on or after which a date reaches one."""
        if self.column.kind != "date":
            return [f"{cut:g}" for cut in self.cuts]
        return [str(np.datetime64(int(np.ceil(cut)), "D")) for cut in self.cuts]

    @abstractmethod
    def features(self, numbers: Floats) -> Floats:
        """Return the features of numbers inside the range."""


@final
class Scaled(_OfNumbers):
    """One feature from 0 at the low end of the public range to 1 at its high end."""

    @property
    def names(self) -> list[str]:
        return [self.column.name]

    def features(self, numbers: Floats) -> Floats:
        inside = np.clip(numbers, self.low, self.high) - self.low
        if self.column.scale == "log":
            inside = np.log1p(inside) / np.log1p(self.high - self.low)
        else:
            inside = inside / (self.high - self.low)
        return np.asarray(inside)[:, None]


@final
class Thermometer(_OfNumbers):
    """One feature for each inner bound: whether the value reaches it."""

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}>={bound}" for bound in self.bounds]

    def features(self, numbers: Floats) -> Floats:
        return (numbers[:, None] >= self.cuts).astype(np.float64)


@final
class Bins(_OfNumbers):
    """One feature for each bin: whether the value is in it, its lower bound included."""

    @property
    def names(self) -> list[str]:
        inner = self.bounds
        ends = zip(["..", *inner], [*inner, ".."], strict=True)
        return [f"{self.column.name}[{low},{high})" for low, high in ends]

    def features(self, numbers: Floats) -> Floats:
        return _one_hot(np.searchsorted(self.cuts, numbers, side="right"), self.cuts.size + 1)


class _OfCategories(Encoding):
    """Categories; a value that is none of them has none of their features."""

    def encode(self, values: Any) -> Encoded:
        codes = self.column.codes(values)
        return Encoded(self.features(codes), codes == MISSING, codes == OUTSIDE)

    @abstractmethod
    def features(self, codes: NDArray[np.intp]) -> Floats:
        """Return the features of the codes; negative ones stand for no category."""


@final
class OneHot(_OfCategories):
    """One feature a category; of two categories that are always there, the second one's."""

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}={value}" for value in self.column.categories]

    def features(self, codes: NDArray[np.intp]) -> Floats:
        return _one_hot(codes, len(self.column.categories))


@final
class Flag(_OfCategories):
    """One feature: 1 for yes, 0 for no and for anything else."""

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}={self.column.categories[1]}"]

    def features(self, codes: NDArray[np.intp]) -> Floats:
        return (codes == 1).astype(np.float64)[:, None]


@final
class Ordinal(_OfCategories):
    """One feature: the position among the categories; -1 for none of them."""

    @property
    def names(self) -> list[str]:
        return [self.column.name]

    def features(self, codes: NDArray[np.intp]) -> Floats:
        return np.maximum(codes, -1).astype(np.float64)[:, None]


@final
class OrderedThermometer(_OfCategories):
    """One feature for each category but the first: whether the value reaches it."""

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}>={value}" for value in self.column.categories[1:]]

    def features(self, codes: NDArray[np.intp]) -> Floats:
        reach = np.arange(1, len(self.column.categories))
        return (codes[:, None] >= reach).astype(np.float64)


class _OfTexts(Encoding):
    """How often each word occurs, divided by the root of the sum of squares."""

    @abstractmethod
    def places(self, words: Sequence[str]) -> list[tuple[int, float]]:
        """Return the feature and sign of each word that counts."""

    def encode(self, values: Any) -> Encoded:
        texts = as_words(values, self.column.missing)
        rows, columns, counts = [], [], []
        for row, text in enumerate(texts):
            for place, sign in self.places(_WORD.findall((text or "").lower())):
                rows.append(row)
                columns.append(place)
                counts.append(sign)
        shape = (len(texts), len(self.names))
        table = sparse.csr_matrix((counts, (rows, columns)), shape=shape, dtype=np.float64)
        size = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
        table = sparse.diags(1 / np.where(size > 0, size, 1.0)) @ table
        missing = np.array([text is None for text in texts], dtype=bool)
        return Encoded(table.tocsr(), missing, np.zeros(len(texts), dtype=bool))


@final
class Hashed(_OfTexts):
    """Words go to features by a public hash; no vocabulary is learned."""

    def __init__(self, column: Column, n_bins: int, text_features: int) -> None:
        super().__init__(column, n_bins, text_features)
        self.n_features = text_features

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}#{place}" for place in range(self.n_features)]

    def places(self, words: Sequence[str]) -> list[tuple[int, float]]:
        hashes = [murmurhash3_32(word, seed=0) for word in words]
        return [(abs(value) % self.n_features, 1.0 if value >= 0 else -1.0) for value in hashes]


@final
class Vocabulary(_OfTexts):
    """One feature for each word of the public vocabulary."""

    def __init__(self, column: Column, n_bins: int, text_features: int) -> None:
        super().__init__(column, n_bins, text_features)
        self.place = {word.lower(): place for place, word in enumerate(column.vocabulary)}

    @property
    def names(self) -> list[str]:
        return [f"{self.column.name}:{word}" for word in self.column.vocabulary]

    def places(self, words: Sequence[str]) -> list[tuple[int, float]]:
        return [(self.place[word], 1.0) for word in words if word in self.place]


ENCODINGS: dict[str, dict[str, type[Encoding]]] = {
    "number": {"scaled": Scaled, "thermometer": Thermometer, "bins": Bins},
    "date": {"scaled": Scaled, "thermometer": Thermometer, "bins": Bins},
    "category": {"onehot": OneHot, "ordinal": Ordinal, "thermometer": OrderedThermometer},
    "boolean": {"flag": Flag, "onehot": OneHot, "ordinal": Ordinal},
    "text": {"hashing": Hashed, "vocabulary": Vocabulary},
}


def encoding_of(column: Column, name: str, *, n_bins: int, text_features: int) -> Encoding:
    """Return the encoding of that name for a column.

    Raises
    ------
    ValueError
        When the column's kind has none of that name, or lacks what it needs.
    """
    known = ENCODINGS[column.kind]
    if name not in known:
        raise ValueError(
            f"Column {column.name!r} is of kind {column.kind!r}, which is encoded as "
            f"{' or '.join(known)}, got {name!r}."
        )
    if name == "vocabulary" and not column.vocabulary:
        raise ValueError(f"Column {column.name!r} has no vocabulary; use 'hashing', or give one.")
    return known[name](column, n_bins, text_features)


def _one_hot(codes: NDArray[np.intp], count: int) -> Floats:
    table = np.zeros((codes.size, count))
    known = np.flatnonzero(codes >= 0)
    table[known, codes[known]] = 1.0
    return table
