"""Columns by the types of a table, and by what its rows look like.

Types are read without looking at a cell; each fact that the rows show is marked as looked up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.values import (
    as_codes,
    as_days,
    as_keys,
    as_numbers,
    column_values,
    key_of,
)
from pacsklearn.universe.balanced_space import units_of
from pacsklearn.universe.frame import categories_of_type, column_names, is_missing
from pacsklearn.universe.row_rules import check_names

_WORDS = {
    "text": ("interval", "time32", "time64"),  # not what their first letters say
    "number": ("int", "float", "double", "decimal", "uint", "timedelta", "duration"),
    "boolean": ("bool",),
    "date": ("date", "timestamp"),
}


def columns_of_dtypes(data: Any, ranges: Mapping[str, tuple[Any, Any]]) -> Iterator[Column]:
    """Yield the columns of a table of pandas, polars or Arrow; ranges by name."""
    names = column_names(data)
    if names is None:
        raise TypeError(
            "data must be a DataFrame of pandas or polars, or an Arrow table, with columns named "
            f"by strings; got an object of type {type(data).__name__}."
        )
    unknown = sorted(ranges.keys() - set(names))
    if unknown:
        raise ValueError(f"There is no column {unknown[0]!r} to give a range to.")
    for name in names:
        kind, categories = kind_of_type(data[name]), categories_of_type(data[name])
        low, high = ranges.get(name, (None, None))
        if categories is not None:
            values, ordered = categories
            yield Column(name, "category", categories=values, ordered=ordered)
        else:
            yield Column(name, kind, low=low, high=high)


def kind_of_type(column: Any) -> str:
    """Return the kind of a column by the name of its type."""
    name = str(column.type if hasattr(column, "combine_chunks") else column.dtype).lower()
    for kind, words in _WORDS.items():
        if name.startswith(words):
            return kind
    return "text"


_TRUTHS = {bool, np.bool_}
# More distinct texts than this are words, or names of rows.
_MOST_CATEGORIES = 50
# Share of distinct texts from which a column looks like an identifier.
_NEARLY_ALL = 0.95
# Units that must share a category before its name is published.
LEAST_UNITS = 10
OTHER = "other"
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# Numbers that somebody wrote for readers: 1,5 and 12 % and $1,200.
_WRITTEN = re.compile(r"[$€£]?\s?[-+]?(\d+|\d*[.,]\d+|\d{1,3}(,\d{3})+(\.\d+)?)\s?[%€£$]?")
# Dates that somebody wrote for readers: 29.02.2024 and 2/29/24, with a time or without.
_WRITTEN_DATE = re.compile(r"(\d{1,2}[./-]){2}(\d{4}|\d{2})([ ,T].*)?|\d{4}[./]\d{1,2}[./]\d{1,2}")
_GAPS = ("-", "--", ".", "?", "*", "NA", "N/A", "n/a", "na", "null", "none", "missing", "unknown")
"""Words for a gap among numbers, all of them public: none is published for being there."""

_OF_IDENTIFIERS = re.compile(r"(?:^|[\W_])(?:id|key|uuid|guid|index|unnamed: ?\d+)$", re.IGNORECASE)
_IN_CAMEL_CASE = re.compile(r"[a-z](?:Id|ID)$")
_EPOCH_YEAR = 1970
_LARGEST, _SMALLEST = 1e300, 1e-6
_YEARS = (1, 9999)


def drafted_columns(data: Any) -> Iterator[Column]:
    """Yield columns as the rows show them; whatever was looked up is listed in ``looked_up``."""
    for name, column, values in _columns_of(data):
        yield _warned(_drafted(name, column, values, None))


def published_columns(
    data: Any, groups: Any = None, categories: Collection[str] = ()
) -> Iterator[Column]:
    """Yield columns by facts that are looked up in the rows to be published exactly with a release.

    Categories of fewer than ten units become ``"other"``; ranges are rounded outward; columns that
    name rows, or are empty, are ignored.

    Raises
    ------
    ValueError
        Naming a column that names units which have several rows, where ``groups`` is not given.
    """
    for name, column, values in _columns_of(data):
        owners = units_of(groups, len(values))[0]
        units = np.arange(len(values)) if owners is None else owners
        facts = _drafted(name, column, values, units)
        if name in categories and not (facts.categories or facts.kind == "ignored"):
            facts = _as_category(facts, values, units)
        if _is_repeated(facts, values):
            if groups is None:
                raise ValueError(
                    f"Column {name!r} of X looks like an identifier, and its values repeat: rows "
                    "of one person are protected together only if fit is told so. Give "
                    f"groups=X[{name!r}] (--groups {name}), or drop the column where it names "
                    "nobody."
                )
            facts = Column(name, "ignored", looked_up=("kind",))
        yield replace(_warned(facts), published=True)


def _warned(facts: Column) -> Column:
    """Return the facts; warn where two categories are one word, written in two ways."""
    if len({str(word).strip().casefold() for word in facts.categories}) < len(facts.categories):
        warn_user(
            f"Column {facts.name!r} of X writes one category in several ways, which differ in case "
            "or blanks alone and would be several categories: write it in one way.",
            UtilityWarning,
        )
    return facts


def repeated_identifiers(data: Any) -> list[str]:
    """Return the columns that look like identifiers of units which have several rows."""
    return [
        name
        for name, column, values in _columns_of(data)
        if _is_repeated(_drafted(name, column, values, np.arange(len(values))), values)
    ]


def _columns_of(data: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, typed column of a table with names, and values of each column."""
    check_names(data)
    names = column_names(data)
    is_named = names is not None
    if names is None:
        data = data if hasattr(data, "shape") else np.asarray(data)
        if data.ndim != 2 or issparse(data):
            raise ValueError(
                "a schema is drafted from a table or a dense array of two dimensions, got an "
                f"object of type {type(data).__name__} of shape {data.shape}."
            )
        names = [f"x{position}" for position in range(data.shape[1])]
    if not len(data):
        raise ValueError("The table has no rows, and facts are looked up in them.")
    for position, name in enumerate(names):
        yield name, data[name] if is_named else None, column_values(data, name, position)


def _drafted(name: str, column: Any, values: Any, units: Any) -> Column:
    """Return the facts of a column; ``units`` of its rows where they are to be published."""
    categories = None if column is None else categories_of_type(column)
    if categories is not None:
        return _category(name, values, categories, units, ("categories",))
    kind = _kind_of_array(values) if column is None else kind_of_type(column)
    if np.asarray(values).dtype.kind == "c":
        raise ValueError(
            f"Column {name!r} of X holds complex numbers; give their two parts a column each."
        )
    if kind == "boolean":
        return Column(name, "boolean")
    if kind == "number":
        return _number(name, as_numbers(values, ())[0], units)
    if kind == "date":
        return _date(name, as_days(values, ())[0], units)
    return _of_texts(name, values, units)


def _of_texts(name: str, values: Any, units: Any) -> Column:
    if not _TRUTHS.isdisjoint(map(type, values)) and all(
        type(value) in _TRUTHS or is_missing(value) for value in values
    ):  # truths among gaps
        return Column(name, "boolean", looked_up=("kind",))
    for gaps in ((), _GAPS):  # numbers in a column of texts
        numbers, strange = as_numbers(values, gaps)
        if not strange.any() and not np.isnan(numbers).all():
            facts = _number(name, numbers, units)
            looked_up = tuple(dict.fromkeys(("kind", *facts.looked_up)))
            return replace(facts, missing=gaps, looked_up=looked_up)
    texts = [text for text in as_keys(values) if text]
    if texts and all(map(_ISO_DATE.match, set(texts))):
        days, strange = as_days(values, ())
        if not strange.any():
            drafted = _date(name, days, units)
            return replace(drafted, looked_up=("kind", *drafted.looked_up))
    others = set(texts).difference(_GAPS)
    if others and all(map(_WRITTEN.fullmatch, others)):
        raise ValueError(
            f"Column {name!r} of X holds numbers with commas, per cent or currencies as texts, "
            'which would be read as words: read the file with decimal="," or thousands=",", or '
            "write plain numbers with a point."
        )
    if others and all(map(_WRITTEN_DATE.fullmatch, others)):
        raise ValueError(
            f"Column {name!r} of X holds dates as texts that are not like 2024-02-29, which would "
            "be read as words: write them so (pandas.to_datetime with dayfirst= or format=), or "
            "drop the column."
        )
    return _of_words(name, values, texts, units)


def _of_words(name: str, values: Any, texts: list[str], units: Any) -> Column:
    distinct = sorted(set(texts))
    is_one_a_row = len(distinct) == len(texts)
    single_words = sum(" " not in text for text in texts) >= _NEARLY_ALL * len(texts)
    if not texts or (units is not None and single_words and is_one_a_row):
        return Column(name, "ignored", looked_up=("kind",))
    if len(distinct) <= _MOST_CATEGORIES or (units is not None and single_words):
        facts = ("kind", "categories")
        return _category(name, values, (tuple(distinct), False), units, facts)
    if single_words and len(distinct) >= _NEARLY_ALL * len(texts):
        return Column(name, "ignored", looked_up=("kind",))
    return Column(name, "text", looked_up=("kind",))


def _category(
    name: str, values: Any, categories: tuple[Any, bool], units: Any, looked_up: tuple[str, ...]
) -> Column:
    listed, ordered = categories
    facts: dict[str, Any] = {"ordered": ordered, "looked_up": looked_up}
    if units is None:
        return Column(name, "category", categories=listed, **facts)
    # Each unit counts once a category, however many of its rows have it.
    codes = as_codes(values, listed, ())
    pairs = np.unique(np.stack([codes, units], axis=1), axis=0)
    counts = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=len(listed))
    kept = [value for value, count in zip(listed, counts, strict=True) if count >= LEAST_UNITS]
    others = [value for value in kept if key_of(value).casefold() == OTHER] or [OTHER]
    # First: what is ordered has it below the least of the others.
    kept = [*others, *(value for value in kept if value not in others)]
    return Column(name, "category", categories=tuple(kept), other=others[0], **facts)


def _as_category(facts: Column, values: Any, units: Any) -> Column:
    """Return a column as a category of its values, numbers in their order."""
    words = set(as_keys(values)).difference(map(str, facts.missing))
    distinct = sorted(sorted(words), key=_size if facts.kind == "number" else None)
    kept = _category(facts.name, values, (tuple(distinct), False), units, ("kind", "categories"))
    return replace(kept, missing=facts.missing)


def _size(word: str) -> float:
    try:
        return float(word)
    except ValueError:  # a duration
        return math.inf


def _is_repeated(facts: Column, values: Any) -> bool:
    """Return whether a column looks like an identifier of units that have several rows each."""
    if facts.kind == "number":
        numbers = as_numbers(values, ())[0]
        there = numbers[~np.isnan(numbers)]
        is_named = is_name_of_identifier(facts.name) and bool((there == np.round(there)).all())
    elif facts.kind == "category":
        there = np.array(as_keys(values))
        # Many words of which none is shared name somebody, whatever the column is called.
        is_many = np.unique(there).size > _MOST_CATEGORIES and facts.categories == (OTHER,)
        is_named = is_many or is_name_of_identifier(facts.name)
    else:
        return False
    counts = np.unique(there, return_counts=True)[1]
    return is_named and bool(counts.max() > 1 and np.median(counts) < LEAST_UNITS)


def is_name_of_identifier(name: str) -> bool:
    """Return whether a column is called as those are that name rows, persons or units."""
    return bool(_OF_IDENTIFIERS.search(name) or _IN_CAMEL_CASE.search(name))


def _number(name: str, numbers: Any, units: Any) -> Column:
    there = numbers[~np.isnan(numbers)]
    if not there.size:
        return Column(name, "number" if units is None else "ignored", looked_up=("kind",))
    # A draft is for a person to read: there the name must say so as well.
    if (units is not None or is_name_of_identifier(name)) and _names_rows(name, there):
        return Column(name, "ignored", looked_up=("kind",))
    low, high = _outward(float(there.min()), float(there.max()))
    return Column(name, low=low, high=high, looked_up=("low", "high"))


def _names_rows(name: str, there: Any) -> bool:
    """Return whether numbers seem to number the rows, by their values or their name."""
    if np.unique(there).size < there.size or (there != np.round(there)).any():
        return False
    is_dense = there.size > _MOST_CATEGORIES and there.max() - there.min() < 2 * there.size
    return bool(is_dense or is_name_of_identifier(name))


def _outward(low: float, high: float) -> tuple[float, float]:
    """Return ends on a grid of 1, 2 or 5 times a power of ten, at least half of the range apart.

    Whoever has the extreme value is not told by it.
    """
    # Beyond, ranges are no doubles; what is there counts as the nearer end.
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    largest, half = max(abs(low), abs(high)), high / 2 - low / 2
    # A range that is nothing beside its ends would tell them: it is rounded by their size.
    step = _step_of(half if half > _SMALLEST * largest else largest) if largest else 1.0
    first, last = math.floor(low / step), math.ceil(high / step)
    return float(f"{first * step:.12g}"), float(f"{max(last, first + 1) * step:.12g}")


def _step_of(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least)


def _date(name: str, days: Any, units: Any) -> Column:
    there = days[~np.isnan(days)]
    if not there.size:
        return Column(name, "date" if units is None else "ignored", looked_up=("kind",))
    years = there.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + _EPOCH_YEAR
    ends = _outward(float(years.min()), float(years.max() + 1))
    low, high = (f"{int(np.clip(end, *_YEARS)):04d}-01-01" for end in ends)
    return Column(name, "date", low=low, high=high, looked_up=("low", "high"))


def _kind_of_array(values: Any) -> str:
    kinds = {"b": "boolean", "i": "number", "u": "number", "f": "number", "M": "date"}
    return kinds.get(np.asarray(values).dtype.kind, "text")
