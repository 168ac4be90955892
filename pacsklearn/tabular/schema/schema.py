"""A public codebook: what is known about a table before any of its rows is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

from pacsklearn._optional import optional
from pacsklearn.kernel.ledger.replacement_file import replace_text
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.table_schema import from_table_schema, to_table_schema
from pacsklearn.tabular.schema.template import columns_of_dtypes, drafted_columns, published_columns

_SHOWN = 6


@final
@dataclass(frozen=True)
class Schema:
    """Columns of a table, their kinds, ranges, categories and codes for missing values.

    Everything in it is public: it is written down from a codebook, a questionnaire or a standard,
    never looked up in the rows that are to be protected. With it, encoding a table learns nothing
    and needs no noise: see :class:`SchemaEncoder`.

    Parameters
    ----------
    columns : iterable of Column
        In the order of the table. Columns of a table that are not listed are not used.

    Raises
    ------
    ValueError
        When two columns have one name.

    Examples
    --------
    >>> from pacsklearn.tabular import Column, Schema
    >>> schema = Schema([
    ...     Column("age", low=0, high=120),
    ...     Column("smoker", "boolean", categories=("no", "yes")),
    ...     Column("ward", "category", categories=("north", "south"), missing=("?",)),
    ... ])
    >>> schema["age"].bounds
    (0.0, 120.0)
    """

    columns: tuple[Column, ...]

    def __init__(self, columns: Iterable[Column]) -> None:
        if not isinstance(columns, Iterable):
            raise TypeError(
                f"columns must be a list of Column objects, got {type(columns).__name__}; "
                "Schema.template drafts them from a table."
            )
        object.__setattr__(self, "columns", tuple(columns))
        for column in self.columns:
            if not isinstance(column, Column):
                raise TypeError(
                    f"columns must be Column objects, got one of type {type(column).__name__}."
                )
        names = self.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"Two columns of the schema are called {twice[0]!r}; give each a name of its own."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(column.name for column in self.columns)

    @property
    def open_columns(self) -> tuple[str, ...]:
        """Names of the columns with facts from private rows that nobody has confirmed."""
        return tuple(column.name for column in self.columns if column.is_open)

    @property
    def published(self) -> tuple[str, ...]:
        """Facts that were looked up in the protected rows and are published exactly, in words."""
        return tuple(f"looked up: {column.fact}" for column in self.columns if column.published)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"The schema has no column {name!r}; it has {', '.join(self.names)}.")

    def __repr__(self) -> str:
        shown = ", ".join(f"{column.name}: {column.kind}" for column in self.columns[:_SHOWN])
        more = len(self.columns) - _SHOWN
        return f"Schema({shown}{f', and {more} more' if more > 0 else ''})"

    def __deepcopy__(self, memo: Any) -> Schema:
        return self  # it is frozen, and every clone of an encoder would copy it

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def select(self, names: Iterable[str]) -> Schema:
        """Keep these columns, in this order."""
        return Schema(self[name] for name in names)

    def drop(self, *names: str) -> Schema:
        """Leave these columns out."""
        for name in names:
            _ = self[name]
        return Schema(column for column in self.columns if column.name not in names)

    def with_column(self, name: str, **facts: Any) -> Schema:
        """Replace some facts of a column by others, stated by hand.

        What is stated here is no longer marked as looked up.
        """
        old = self[name]
        left = tuple(fact for fact in old.looked_up if fact not in facts)
        new = replace(old, **{"looked_up": left, **facts})
        return Schema(new if column is old else column for column in self.columns)

    def confirm(self, *names: str) -> Schema:
        """Confirm that looked-up facts are public; of all columns where no names are given.

        Confirm what a person who never saw the rows could have written: an age from 0 to 120, the
        sexes on a form. Not the largest income in the table.
        """
        for name in names:
            _ = self[name]
        return Schema(
            column.confirm() if not names or column.name in names else column
            for column in self.columns
        )

    @classmethod
    def template(cls, data: Any) -> Schema:
        """Draft a schema for ``data``, to be confirmed by a person.

        Ranges, categories and the kinds of columns of text are looked up in the rows, which makes
        them *private*: every such fact is listed in ``Column.looked_up``, and a
        :class:`SchemaEncoder` refuses the schema until each is replaced
        (:meth:`with_column`) or confirmed (:meth:`confirm`).

        Parameters
        ----------
        data : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_columns)
        """
        return cls(drafted_columns(data))

    @classmethod
    def from_dtypes(cls, data: Any, **ranges: tuple[Any, Any]) -> Schema:
        """Make a schema from the types of a table's columns; no cell is read.

        Parameters
        ----------
        data : DataFrame of pandas or polars, or Arrow table
            Categories are those of categorical types (``Enum`` in polars, dictionaries in Arrow).
            A type made by ``astype("category")`` lists what is in the rows: use types from the
            codebook, as the loaders of :mod:`pacsklearn.datasets` do.
        **ranges : (low, high)
            Public ranges of numbers and dates by column name.
        """
        return cls(columns_of_dtypes(data, ranges))

    @classmethod
    def from_table(cls, data: Any, groups: Any = None, categories: Collection[str] = ()) -> Schema:
        """Look the facts up in ``data``, to be published exactly with a release.

        What ``schema="from table"`` of :class:`PACPrivate` and Auto makes of their table: names and
        kinds of the columns; categories that at least ten units share, the rest as ``"other"``;
        ranges, rounded outward to steps of 1, 2 or 5 times a power of ten that are at least half of
        the range. Columns with one word or number a row, and empty ones, are ignored. Whoever sees
        the release sees these facts as they are, so that presence in the table is not protected.

        Parameters
        ----------
        data : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_columns)
            Without the targets.
        groups : array-like of shape (n_rows,), optional
            Unit of privacy.
        categories : collection of str
            Columns that are categories where they look like numbers or texts: numbered wards.

        Raises
        ------
        ValueError
            When a column looks like an identifier whose values repeat, and there are no groups, or
            holds numbers with commas, per cent or currencies as texts.
        """
        return cls(published_columns(data, groups, categories))

    @classmethod
    def from_table_schema(cls, document: Mapping[str, Any]) -> Schema:
        """Make a schema from a Frictionless Table Schema, as read from JSON."""
        return cls(from_table_schema(document))

    def to_table_schema(self) -> dict[str, Any]:
        """Write a Frictionless Table Schema; what it has no words for is under ``"pacsklearn"``."""
        return to_table_schema(self.columns)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read a file with a Frictionless Table Schema in JSON or YAML.

        Raises
        ------
        ValueError
            When it is neither, or no schema.
        """
        return cls.from_table_schema(read_document(path))

    def write(self, path: str | Path) -> None:
        """Write the schema for a person to read and edit: JSON, or YAML by the file's name."""
        write_document(path, self.to_table_schema())


def read_document(path: str | Path) -> Any:
    """Return what a file in JSON, or in YAML by its name, holds.

    Raises
    ------
    ValueError
        When it is neither.
    """
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")  # editors on Windows put a mark first
    except UnicodeDecodeError:
        raise ValueError(f"{place.name} is no text in UTF-8; save it in that encoding.") from None
    if place.suffix.lower() in {".yaml", ".yml"}:
        yaml = _yaml()
        try:
            _check_nodes(place.name, yaml.compose(text, Loader=yaml.SafeLoader), set())
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
            raise ValueError(f"{place.name} is no YAML: see line {line}.") from None
    try:
        return json.loads(text, object_pairs_hook=partial(_once, place.name))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{place.name} is no JSON: {error.msg} in line {error.lineno}. A schema in YAML "
            "has a name that ends in .yaml."
        ) from None


def _once(file: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; of two with one name, a reader would keep the last."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{file}: one object says {twice!r} twice; leave one out.")
    return made


def _check_nodes(file: str, node: Any, seen: set[int]) -> None:
    """Refuse a document of YAML in which a mapping says one word twice."""
    if id(node) in seen or not isinstance(getattr(node, "value", None), list):
        return
    seen.add(id(node))  # an anchor may hold itself
    pairs = [part for part in node.value if isinstance(part, tuple)]
    # Not the sign for what an anchor's mapping brings, of which there may be several.
    _once(file, [(key.value, None) for key, _ in pairs if key.tag.endswith(":str")])
    for part in node.value:
        for each in part if isinstance(part, tuple) else (part,):
            _check_nodes(file, each, seen)


def write_document(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write JSON, or YAML by the file's name."""
    place = Path(path)
    if place.suffix.lower() in {".yaml", ".yml"}:
        text = _yaml().safe_dump(document, sort_keys=False, allow_unicode=True)
    else:
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    replace_text(place, text)


def _yaml() -> Any:
    return optional("yaml", extra="schema", purpose="A schema in YAML (one in JSON needs nothing)")
