"""What is publicly known about one column."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import brief, is_real
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.schema.values import OUTSIDE, as_codes, as_days, as_numbers, day_of, key_of

KINDS = ("number", "category", "boolean", "date", "text", "ignored")
_SCALES = ("linear", "log")


@final
@dataclass(frozen=True)
class Column:
    """One column of a table, as a codebook describes it.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "boolean", "date", "text", "ignored"}, default="number"
        "ignored" columns (identifiers) are in the table and are not used.
    low, high : float or date, optional
        Public range of a number or a date; ``low < high``.
    scale : {"linear", "log"}, default="linear"
        Whether bins made from the range are equally wide, or equally wide in
        ``log(1 + value - low)``: for amounts of money and counts.
    edges : tuple of float or date, default=()
        Rising public bounds between bins, in place of equally wide ones.
    categories : tuple, default=()
        Public values of a category, in their order. Of a boolean: what stands for no and for yes.
    ordered : bool, default=False
        Whether the order of the categories means something.
    other : optional
        The one of the categories that stands for every value that is not listed.
    missing : tuple, default=()
        Codes that stand for a missing value, such as ``"?"`` or ``-999``. None, NaN and the empty
        string always do.
    required : bool, default=False
        Whether the column has no missing values, so that no indicator is needed for them.
    vocabulary : tuple of str, default=()
        Public words of a text column that get a feature each; words are hashed when there is none.
    looked_up : tuple of str, default=()
        Names of the facts above that were taken from private rows. A :class:`SchemaEncoder` refuses
        them until somebody confirms that they are public.
    confirmed : bool, default=False
        Whether somebody did.
    published : bool, default=False
        Whether what was looked up is published exactly with what is released, as with
        ``schema="from table"``: presence in the table is then not protected.

    Raises
    ------
    ValueError
        When the facts do not fit each other. The message names the column and the fact.
    """

    name: str
    kind: str = "number"
    low: Any = None
    high: Any = None
    scale: str = "linear"
    edges: tuple[Any, ...] = ()
    categories: tuple[Any, ...] = ()
    ordered: bool = False
    other: Any = None
    missing: tuple[Any, ...] = ()
    required: bool = False
    vocabulary: tuple[str, ...] = ()
    looked_up: tuple[str, ...] = ()
    confirmed: bool = False
    published: bool = False

    def __post_init__(self) -> None:
        given: object = self.name  # from files, where it may be anything
        if not isinstance(given, str) or not given:
            raise ValueError(
                "name of a column must be a string that is not empty, got "
                f"{repr(given) if given == '' else f'an object of type {type(given).__name__}'}."
            )
        if self.kind not in KINDS:
            raise self._wrong("kind", f"one of {', '.join(KINDS)}", self.kind)
        if self.scale not in _SCALES:
            raise self._wrong("scale", "'linear' or 'log'", self.scale)
        for flag in ("ordered", "required", "confirmed", "published"):
            if not isinstance(getattr(self, flag), bool):  # the word "no" is true
                raise self._wrong(flag, "true or false", getattr(self, flag))
        for field in ("edges", "categories", "missing", "vocabulary", "looked_up"):
            object.__setattr__(self, field, self._listed(field))
        if self.kind in ("number", "date"):
            self._check_range()
        elif self.low is not None or self.high is not None or self.edges:
            raise ValueError(
                f"Column {self.name!r} is of kind {self.kind!r}, which has no range; leave out low,"
                " high and edges, or make it a number."
            )
        if self.kind == "boolean" and not self.categories:
            object.__setattr__(self, "categories", (False, True))
        self._check_categories()

    @property
    def is_open(self) -> bool:
        """Whether facts from private rows wait for somebody's word that they are public."""
        return bool(self.looked_up) and not (self.confirmed or self.published)

    @property
    def fact(self) -> str:
        """What is known of the column, in words."""
        if self.kind == "ignored":
            return f"{self.name} is left out: it names rows or units, or is empty"
        if self.kind == "category":
            return f"{self.name} is one of ({', '.join(map(str, self.categories))})"
        if self.kind in ("number", "date"):
            return f"{self.name} is a {self.kind} from {_shown(self.low)} to {_shown(self.high)}"
        return f"{self.name} is {self.kind}"

    @property
    def bounds(self) -> tuple[float, float]:
        """Range as numbers, dates as days since 1970-01-01.

        Raises
        ------
        ValueError
            When the schema states none.
        """
        ends = (self.low, self.high)
        if self.edges:
            ends = tuple(
                edge if end is None else end
                for end, edge in zip(ends, (self.edges[0], self.edges[-1]), strict=True)
            )
        if ends[0] is None or ends[1] is None:
            raise ValueError(
                f"Column {self.name!r} has no public range; give low= and high=, or edges=, from "
                "the codebook (looking them up in the rows would publish two of them)."
            )
        return self._number(ends[0]), self._number(ends[1])

    def cuts(self, n_bins: int) -> Floats:
        """Return inner bounds of the bins: the stated edges, or ``n_bins - 1`` from the range."""
        if self.edges:
            return np.array([self._number(edge) for edge in self.edges])
        low, high = self.bounds
        shares = np.arange(1, n_bins) / n_bins
        if self.scale == "log":
            return np.asarray(low + np.expm1(shares * np.log1p(high - low)))
        return np.asarray(low + shares * (high - low))

    def read(self, values: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Read numbers or dates as :attr:`bounds` has them, and say which are neither.

        NaN where they are missing or neither.
        """
        return (as_days if self.kind == "date" else as_numbers)(values, self.missing)

    def reads_any(self, values: Any) -> bool:
        """Return whether some value is read, or none is there."""
        # Mostly the first rows settle it.
        for part in (values[:1000], values):
            if self.categories:
                codes = self.codes(part)
                read, strange = codes >= 0, codes == OUTSIDE
            else:
                numbers, strange = self.read(part)
                read = ~np.isnan(numbers)
            if read.any():
                return True
        return not strange.any()

    def n_cells(self, n_bins: int) -> int:
        """Count categories, or bins."""
        return len(self.categories) or self.cuts(n_bins).size + 1

    def cells(self, values: Any, n_bins: int) -> NDArray[np.intp]:
        """Return category or bin of each value; negative where it is missing or none of them."""
        if self.categories:
            return self.codes(values)
        numbers, _ = self.read(values)
        bins = np.searchsorted(self.cuts(n_bins), numbers, side="right")
        return np.where(np.isnan(numbers), -1, bins)

    def codes(self, values: Any) -> NDArray[np.intp]:
        """Return the category of each value.

        ``OUTSIDE`` where it is none of them, ``MISSING`` in a gap.
        """
        codes = as_codes(values, self.categories, self.missing)
        if self.other is not None:
            codes[codes == OUTSIDE] = self.categories.index(self.other)
        return codes

    def confirm(self) -> Column:
        """Confirm that the column holds public facts only."""
        return replace(self, confirmed=True) if self.looked_up else self

    def _number(self, value: Any) -> float:
        return day_of(value) if self.kind == "date" else float(value)

    def _listed(self, field: str) -> tuple[Any, ...]:
        given = getattr(self, field)
        if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
            raise self._wrong(field, "a list", given)
        return tuple(one.item() if isinstance(one, np.generic) else one for one in given)

    def _check_range(self) -> None:
        ends = {"low": self.low, "high": self.high}
        for field, end in [*ends.items(), *(("edges", edge) for edge in self.edges)]:
            if end is None:
                continue
            if self.kind == "date":
                try:
                    day_of(end)
                except ValueError:
                    raise self._wrong(field, "a date such as '2024-02-29'", end) from None
            elif not is_real(end) or not _is_finite(end):
                raise self._wrong(field, "a finite number", end)
        if None not in ends.values() and not self._number(self.low) < self._number(self.high):
            raise ValueError(
                f"Column {self.name!r}: low must be less than high, got {self.low!r} and "
                f"{self.high!r}."
            )
        inner = [self._number(edge) for edge in self.edges]
        if any(not left < right for left, right in pairwise(inner)):
            raise ValueError(f"Column {self.name!r}: edges must rise, got {list(self.edges)!r}.")

    def _check_categories(self) -> None:
        keys = [key_of(value) for value in self.categories]
        if len(set(keys)) < len(keys):
            raise ValueError(
                f"Column {self.name!r}: two categories read the same; write each once "
                "(1, 1.0 and '1' are one category)."
            )
        if self.kind == "category" and not keys:
            raise ValueError(
                f"Column {self.name!r} is a category and has no categories; list them from the "
                "codebook, or make it text, whose words are hashed."
            )
        if self.other is not None and self.other not in self.categories:
            raise self._wrong("other", "one of the categories", self.other)
        if self.kind == "boolean" and len(keys) != 2:
            raise self._wrong("categories", "two values, no and yes", list(self.categories))
        if self.kind in ("number", "date", "text") and keys:
            raise ValueError(
                f"Column {self.name!r} is of kind {self.kind!r} and has categories; make it a "
                "category, or leave them out."
            )

    def _wrong(self, field: str, expected: str, given: Any) -> ValueError:
        return ValueError(f"Column {self.name!r}: {field} must be {expected}, got {brief(given)}.")


def _shown(end: Any) -> str:
    return end if isinstance(end, str) else f"{end:.12g}"


def _is_finite(end: Any) -> bool:
    try:
        return math.isfinite(end)
    except OverflowError:  # a whole number that is no double
        return False
