"""Categories and ranges of a schema for estimators that would look them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
)

from pacsklearn._validation import has_params
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.encoder import SchemaEncoder
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.schema_columns import SchemaColumns, gap_of
from pacsklearn.universe.codebook_reader import CodebookReader
from pacsklearn.universe.frame import as_pandas, column_names, is_missing

# One feature out for each feature in, with the values it had.
_SAME_VALUES = (SimpleImputer,)
# Find columns by name or position, or take categories as they are.
_READ_COLUMNS = (ColumnTransformer, FeatureUnion, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder)
_UNKNOWN: dict[type, dict[str, Any]] = {
    OneHotEncoder: {"handle_unknown": "ignore"},
    OrdinalEncoder: {"handle_unknown": "use_encoded_value", "unknown_value": -1},
}


def apply_schema(estimator: Any, schema: Schema) -> Any:
    """Clone ``estimator`` with public facts in place of what it would learn.

    ``OneHotEncoder`` and ``OrdinalEncoder`` with ``categories="auto"`` get the schema's
    categories, and take other values for none of them; ``KBinsDiscretizer`` becomes an encoder
    with public bins; ``SplineTransformer`` gets even knots over the schema's ranges where it would
    learn them, and forests of a fixed structure without a ``feature_range`` get the schema's. It
    looks into pipelines, unions and column transformers; what comes after a step that makes
    features of its own is left alone.

    Parameters
    ----------
    estimator : estimator
        Its input has the schema's columns, in its order.
    schema : Schema

    Returns
    -------
    estimator
        Unfitted.

    Raises
    ------
    ValueError
        When a column has no categories or range to give; the message names it.
    """
    return _fill(clone(estimator), schema, schema.names)


def read_by(estimator: Any, schema: Schema, X: Any = None) -> Any:
    """Clone ``estimator`` so that it reads tables by a schema.

    One that reads a codebook itself gets this one where it has none. One that selects columns or
    encodes categories gets the schema's facts as by :func:`apply_schema`, and the table without
    gaps (:class:`SchemaColumns`); imputers of columns that have none are left out. Any other gets
    the table encoded (:class:`SchemaEncoder`).

    Parameters
    ----------
    estimator : estimator
    schema : Schema
    X : table, optional
        Whose columns it will read: their names, and which have a type that is selected. Those of
        the schema when not given.
    """
    made = clone(estimator)
    if any(type(first) in _READ_COLUMNS for first in _firsts(made)):
        columns = (None if X is None else column_names(X)) or schema.names
        for first in _firsts(made):
            _list_columns(first, schema, X)
        made = _without_imputers(_fill(made, schema, columns), schema, columns)
        reader: Any = SchemaColumns(schema)
    else:
        reader = SchemaEncoder(schema)
    first = made
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    if isinstance(first, CodebookReader):
        if first.schema is None:
            first.schema = schema
        return made
    for first in _firsts(made):
        if getattr(first, "feature_range", ()) is None:
            first.set_params(feature_range=(0.0, 1.0))  # what the encoder scales to
        if type(first) is SplineTransformer:
            _with_knots(first, [(0.0, 1.0)] * len(reader.get_feature_names_out()))
    if not hasattr(made, "steps"):
        return make_pipeline(reader, made)
    made.steps = [(type(reader).__name__.lower(), reader), *made.steps]
    return made


def encoded_columns(estimator: Any, columns: Sequence[str]) -> set[str]:
    """Return the columns of a table whose categories an encoder would learn, as it stands."""
    learned: set[str] = set()

    def note(part: Any, own: Sequence[str]) -> Any:
        if isinstance(part, (OneHotEncoder, OrdinalEncoder)) and isinstance(part.categories, str):
            learned.update(own)
        return part

    _through(clone(estimator, safe=False), columns, note)
    return learned


def _firsts(estimator: Any) -> Iterator[Any]:
    """Yield what sees the table first: inside pipelines, unions, searches, votes and the like."""
    if hasattr(estimator, "steps"):
        yield from _firsts(estimator.steps[0][1])
        return
    inner = list(_inner(estimator))
    if not inner or type(estimator) is FeatureUnion:
        yield estimator
    for _, one in inner:
        yield from _firsts(one)


def _inner(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the estimators that another one fits to the table that it is given itself, by name."""
    # Its parameters alone: a forest has a tree by the name ``estimator`` that it makes itself.
    own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for name in ("estimator", "regressor"):
        one = own.get(name)
        if has_params(one):
            yield name, one
    listed = own.get("estimators", own.get("transformer_list"))
    yield from ((name, one) for name, one in listed or () if not isinstance(one, str))


def _fill(estimator: Any, schema: Schema, columns: Sequence[str]) -> Any:
    """Fill in what is missing."""
    return _through(estimator, columns, lambda part, own: _filled_in(part, schema, own))


def _through(
    estimator: Any, columns: Sequence[str] | None, change: Callable[[Any, Sequence[str]], Any]
) -> Any:
    """Replace whatever sees columns of the table by what ``change`` makes of it and them.

    ``columns`` are those of the input, None if they are no longer.
    """
    if isinstance(estimator, Pipeline):
        steps = []
        for name, step in estimator.steps:
            steps.append((name, _through(step, columns, change)))
            if not (step in (None, "passthrough") or isinstance(step, _SAME_VALUES)):
                columns = None
        estimator.steps = steps
    elif isinstance(estimator, ColumnTransformer):
        estimator.transformers = [
            (name, _through(part, _chosen(where, columns), change), where)
            for name, part, where in estimator.transformers
        ]
    elif isinstance(estimator, FeatureUnion):
        estimator.transformer_list = [
            (name, _through(part, columns, change)) for name, part in estimator.transformer_list
        ]
    elif not (columns is None or isinstance(estimator, str) or estimator is None):
        estimator = change(estimator, columns)
        for name, inner in _inner(estimator):
            estimator.set_params(**{name: _through(inner, columns, change)})
    return estimator


def _filled_in(estimator: Any, schema: Schema, columns: Sequence[str]) -> Any:
    if isinstance(estimator, (OneHotEncoder, OrdinalEncoder)):
        if isinstance(estimator.categories, str):
            estimator.categories = [_categories(schema[name]) for name in columns]
            if estimator.handle_unknown == "error":
                # A value that is not listed, or missing, is none of the categories.
                estimator.set_params(**_UNKNOWN[type(estimator)])
    elif type(estimator) is KBinsDiscretizer:
        return _public_bins(estimator, schema, columns)
    elif type(estimator) is SplineTransformer:
        return _with_knots(estimator, [schema[name].bounds for name in columns])
    elif getattr(estimator, "feature_range", ()) is None:
        # MinMaxScaler's is the range it scales to; it is never None.
        ends = np.array([schema[name].bounds for name in columns])
        estimator.feature_range = (ends[:, 0], ends[:, 1])
    return estimator


def _list_columns(estimator: Any, schema: Schema, X: Any) -> None:
    """Put names in place of a column transformer's selectors, by types as the schema reads them.

    By those of the table where none has such a type. What the schema ignores is neither among
    them nor in the remainder, and refused where it is named.
    """
    if not isinstance(estimator, ColumnTransformer):
        return
    names, listed = column_names(X) or schema.names, estimator.transformers
    ignored = [column.name for column in schema if column.kind == "ignored"]
    if any(type(where) is make_column_selector for *_, where in listed) and X is not None:
        table = as_pandas(X)[:1]
        views = (SchemaColumns(schema).fit_transform(table), table)
        listed = [
            (name, part, _selected(where, views, ignored))
            if type(where) is make_column_selector
            else (name, part, where)
            for name, part, where in listed
        ]
    chosen = [_chosen(where, names) for *_, where in listed]
    taken = [own for (_, part, _), own in zip(listed, chosen, strict=True) if part != "drop"]
    for name in ignored:
        if any(name in own for own in taken if own):
            raise ValueError(
                f"{type(estimator).__name__} takes the column {name!r}, which the schema leaves "
                "out (it names rows or units, or is empty): leave it out there too, or describe it "
                "in a codebook, schema=."
            )
    if estimator.remainder != "drop" and None not in chosen:
        unread = [name for name in ignored if not any(name in each for each in chosen if each)]
        is_named = X is None or column_names(X) is not None
        left = unread if is_named else [names.index(name) for name in unread]
        listed = [*listed, ("ignored by the schema", "drop", left)] if left else listed
    estimator.transformers = listed


def _selected(where: Any, views: Sequence[Any], ignored: Sequence[str]) -> list[str]:
    """Return what a selector finds in the first view that has any of it."""
    for view in views:
        if names := [name for name in where(view) if name not in ignored]:
            return names
    return []


def _without_imputers(estimator: Any, schema: Schema, columns: Sequence[str]) -> Any:
    """Leave out imputers of columns that the schema leaves no gap in: noise would be spent on them.

    Those that see the table first, alone or in column transformers.
    """
    if type(estimator) is ColumnTransformer:
        estimator.transformers = [
            (name, _without_imputers(part, schema, _chosen(where, columns) or columns), where)
            for name, part, where in estimator.transformers
        ]
    elif type(estimator) is SimpleImputer:
        if _fills_gaps_alone(estimator) and all(_is_filled(schema, name) for name in columns):
            return "passthrough"
    elif type(estimator) is Pipeline:
        (name, first), *others = estimator.steps
        listed = all(name in schema and schema[name].categories for name in columns)
        if _fills_gaps_alone(first) and first.strategy == "most_frequent":
            first = "passthrough" if listed and others and _takes_gaps(others[0][1]) else first
        first = _without_imputers(first, schema, columns)
        if first == "passthrough" and len(others) < 2:
            return others[0][1] if others else first
        estimator.steps = [(name, first), *others]
    else:
        for name, inner in _inner(estimator):
            estimator.set_params(**{name: _without_imputers(inner, schema, columns)})
    return estimator


def _fills_gaps_alone(step: Any) -> bool:
    return (
        type(step) is SimpleImputer and is_missing(step.missing_values) and not step.add_indicator
    )


def _takes_gaps(step: Any) -> bool:
    """Return whether a gap is none of the categories of an encoder, which lists no other one."""
    return (
        type(step) in _UNKNOWN
        and not isinstance(step.categories, str)
        and step.handle_unknown != "error"
        and not any(is_missing(value) for listed in step.categories for value in listed)
    )


def _is_filled(schema: Schema, name: str) -> bool:
    """Return whether :class:`SchemaColumns` leaves no gap in a column."""
    return (
        name in schema and schema[name].kind != "ignored" and not is_missing(gap_of(schema[name]))
    )


def _chosen(where: Any, columns: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of the columns that a column transformer gives to a part.

    None if rows decide.
    """
    if columns is None or callable(where):
        return None
    if isinstance(where, str):
        return [where]
    names = np.array(columns, dtype=object)
    if isinstance(where, (int, np.integer)):
        return [str(names[where])]
    if isinstance(where, slice):
        ends = where.start, where.stop
        if any(isinstance(end, str) for end in ends):  # by names, the last one included
            if not {*ends} <= {None, *columns}:
                return None
            first, last = (None if end is None else columns.index(end) for end in ends)
            where = slice(first, None if last is None else last + 1)
        return list(names[where])
    listed = list(where)
    return listed if all(isinstance(one, str) for one in listed) else list(names[listed])


def _categories(column: Column) -> list[Any]:
    if not column.categories:
        raise ValueError(
            f"Column {column.name!r} is of kind {column.kind!r} and has no categories to give to "
            "an encoder; list them in the schema, or encode it by a SchemaEncoder."
        )
    # Without an ``other`` that is a word where the rest are none.
    return [
        value for value in column.categories if value != column.other or value == gap_of(column)
    ]


def _with_knots(splines: Any, ranges: Sequence[tuple[float, float]]) -> Any:
    if isinstance(splines.knots, str):
        low, high = np.transpose(ranges)
        splines.knots = np.linspace(low, high, splines.n_knots).tolist()
    return splines


def _public_bins(binner: Any, schema: Schema, columns: Sequence[str]) -> Any:
    if binner.encode == "ordinal" or not isinstance(binner.n_bins, (int, np.integer)):
        raise ValueError(
            "KBinsDiscretizer gets public bins from a schema with encode='onehot' or "
            "'onehot-dense' and one number of bins; put a SchemaEncoder in its place."
        )
    return SchemaEncoder(
        schema.select(columns),
        numbers="bins",
        n_bins=int(binner.n_bins),
        missing="ignore",
        sparse_output=binner.encode == "onehot",
    )
