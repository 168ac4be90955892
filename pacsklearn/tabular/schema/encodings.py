"""Encodings of one column into numbers, each a public function of the single value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import normalize

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.values import MISSING, OUTSIDE, as_words

Mask = NDArray[np.bool_]
Codes = NDArray[np.intp]

_WORD = r"\w+"
# Features of categories or bins, of which there are so many; negative codes stand for none of them.
_OF_CODES: dict[str, Callable[[Codes, int], NDArray[Any]]] = {
    "onehot": lambda codes, count: codes[:, None] == np.arange(count),
    "bins": lambda codes, count: codes[:, None] == np.arange(count),
    "thermometer": lambda codes, count: codes[:, None] >= np.arange(1, count),
    "flag": lambda codes, _: codes[:, None] == 1,
    "ordinal": lambda codes, _: np.maximum(codes, -1)[:, None],
}


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
    """How the values of one column become features.

    Parameters
    ----------
    column : Column
    kind : str
        One of the names in :data:`ENCODINGS` for the column's kind.
    n_bins, text_features : int
    """

    def __init__(self, column: Column, kind: str, n_bins: int, text_features: int) -> None:
        self.column, self.kind = column, kind
        self.n_bins, self.text_features = n_bins, text_features

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the features."""

    @abstractmethod
    def encode(self, values: Any) -> Encoded:
        """Return the features of the values."""


@final
class NumberEncoding(Encoding):
    """Numbers and dates; a value outside the range is moved to its nearer end.

    "scaled" is one feature from 0 at the low end of the public range to 1 at its high end,
    "thermometer" has one for each inner bound that the value reaches, "bins" one for each bin, its
    lower bound included.
    """

    @property
    def cuts(self) -> Floats:
        """Bounds between bins."""
        return self.column.cuts(self.n_bins)

    @property
    def names(self) -> list[str]:
        name = self.column.name
        if self.kind == "scaled":
            return [name]
        bounds = [f"{cut:g}" for cut in self.cuts]
        if self.column.kind == "date":  # the day on or after which a date reaches one
            bounds = [str(np.datetime64(int(np.ceil(cut)), "D")) for cut in self.cuts]
        if self.kind == "thermometer":
            return [f"{name}>={bound}" for bound in bounds]
        ends = zip(["..", *bounds], [*bounds, ".."], strict=True)
        return [f"{name}[{low},{high})" for low, high in ends]

    def encode(self, values: Any) -> Encoded:
        numbers, strange = self.column.read(values)
        low, high = self.column.bounds
        missing = np.isnan(numbers)
        filled = np.where(missing, (low + high) / 2, numbers)
        # Edges given without a range bound nothing: the outer bins are open.
        first = -np.inf if self.column.low is None else low
        last = np.inf if self.column.high is None else high
        outside = strange | (filled < first) | (filled > last)
        if self.kind != "scaled":
            codes = np.searchsorted(self.cuts, np.clip(filled, first, last), side="right")
            return Encoded(_of_codes(self.kind, codes, self.cuts.size + 1), missing, outside)
        inside, width = np.clip(filled, low, high) - low, high - low
        if self.column.scale == "log":
            inside, width = np.log1p(inside), np.log1p(width)
        return Encoded((inside / width)[:, None], missing, outside)


@final
class CategoryEncoding(Encoding):
    """Categories; a value that is none of them has none of their features.

    "onehot" is one feature a category, "thermometer" one for each but the first that the value
    reaches, "ordinal" the position among them (-1 for none), "flag" 1 for yes and 0 for no and for
    anything else.
    """

    @property
    def names(self) -> list[str]:
        name, categories = self.column.name, self.column.categories
        return {
            "onehot": [f"{name}={value}" for value in categories],
            "thermometer": [f"{name}>={value}" for value in categories[1:]],
            "flag": [f"{name}={value}" for value in categories[1:]],
            "ordinal": [name],
        }[self.kind]

    def encode(self, values: Any) -> Encoded:
        codes = self.column.codes(values)
        features = _of_codes(self.kind, codes, len(self.column.categories))
        return Encoded(features, codes == MISSING, codes == OUTSIDE)


@final
class TextEncoding(Encoding):
    """How often each word occurs, divided by the root of the sum of squares.

    "vocabulary" has one feature for each word of the public vocabulary; by "hashing" words go to
    features by a public hash, and no vocabulary is learned.
    """

    @property
    def names(self) -> list[str]:
        if self.kind == "vocabulary":
            return [f"{self.column.name}:{word}" for word in self._vocabulary.values()]
        return [f"{self.column.name}#{place}" for place in range(self.text_features)]

    @property
    def _vocabulary(self) -> dict[str, str]:
        return {word.lower(): word for word in self.column.vocabulary}

    def encode(self, values: Any) -> Encoded:
        given = as_words(values, self.column.missing)
        vectorizer: Any = HashingVectorizer(n_features=self.text_features, token_pattern=_WORD)
        if self.kind == "vocabulary":
            vectorizer = CountVectorizer(vocabulary=list(self._vocabulary), token_pattern=_WORD)
        counts = vectorizer.transform([text or "" for text in given])
        missing = np.array([text is None for text in given], dtype=bool)
        return Encoded(normalize(counts), missing, np.zeros(len(given), dtype=bool))


_NUMBERS = (NumberEncoding, ("scaled", "thermometer", "bins"))
ENCODINGS: dict[str, tuple[type[Encoding], tuple[str, ...]]] = {
    "number": _NUMBERS,
    "date": _NUMBERS,
    "category": (CategoryEncoding, ("onehot", "ordinal", "thermometer")),
    "boolean": (CategoryEncoding, ("flag", "onehot", "ordinal")),
    "text": (TextEncoding, ("hashing", "vocabulary")),
}


def encoding_of(column: Column, name: str, *, n_bins: int, text_features: int) -> Encoding:
    """Return the encoding of that name for a column.

    Raises
    ------
    ValueError
        When the column's kind has none of that name, or lacks what it needs.
    """
    kind, known = ENCODINGS[column.kind]
    if name not in known:
        raise ValueError(
            f"Column {column.name!r} is of kind {column.kind!r}, which is encoded as "
            f"{' or '.join(known)}, got {name!r}."
        )
    if name == "vocabulary" and not column.vocabulary:
        raise ValueError(f"Column {column.name!r} has no vocabulary; use 'hashing', or give one.")
    if kind is NumberEncoding:
        _ = column.bounds  # or says that there is no public range
    return kind(column, name, n_bins, text_features)


def _of_codes(kind: str, codes: Codes, count: int) -> Floats:
    return _OF_CODES[kind](codes, count).astype(np.float64)
