"""The ``schema`` of a fit: a codebook, a file with one, or facts looked up in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from pacsklearn._validation import is_word
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.codebook import FROM_TABLE, Codebook
from pacsklearn.tabular.schema.apply_schema import encoded_columns, read_by
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.universe.frame import as_pandas, column_names
from pacsklearn.universe.row_rules import RowRules, check_names

_SHOWN = 5


@final
class SchemaArgument(Codebook):
    """Schemas, for every estimator."""

    name = "schema"

    def read(self, given: Any, estimator: Any, X: Any, groups: Any) -> Any:
        schema = stated_schema(given, X, groups, options_of(estimator).template)
        return options_of(estimator).through(lambda one: read_by(one, schema, X))


def stated_schema(given: Any, X: Any, groups: Any = None, estimator: Any = None) -> Schema:
    """Return the schema by a user's argument.

    Parameters
    ----------
    given : Schema, str or Path
    X : table
        Looked up only by ``"from table"``.
    groups : array-like of shape (n_rows,), optional
    estimator : estimator, optional
        What its encoders take is a category, also where it looks like a number.

    Raises
    ------
    ValueError, TypeError
    """
    if isinstance(given, Schema):
        return given
    if is_word(given, FROM_TABLE):
        check_names(X)
        names = column_names(X) or [f"x{place}" for place in range(np.shape(X)[-1])]
        return Schema.from_table(X, groups, encoded_columns(estimator, names))
    if not isinstance(given, (str, Path)) or not Path(given).is_file():
        is_path = isinstance(given, (str, Path))
        shown = f"{str(given)!r}, which is no file" if is_path else type(given).__name__
        raise ValueError(
            f"schema must be a Schema, the path of a codebook in JSON or YAML, or {FROM_TABLE!r}, "
            f"got {shown}."
        )
    return Schema.read(given)


def check_needs_none(X: Any) -> None:
    """Refuse a table that only a codebook can read, saying what would be looked up for one.

    Raises
    ------
    ValueError
    """
    check_names(X)
    names, others = column_names(X), []
    if names is None:
        values = RowRules.of(StandardScaler()).check(X)
        missing = np.zeros(0) if issparse(values) else np.isnan(values).any(axis=0)
        gaps = [f"x{position}" for position in np.flatnonzero(missing)]
    else:
        table = as_pandas(X)
        others = [name for name in names if getattr(table[name].dtype, "kind", "O") not in "biuf"]
        gaps = [name for name in names if name not in others and table[name].isna().any()]
    if not (others or gaps):
        return
    what = [
        f"{words} {', '.join(listed[:_SHOWN])}{' and others' * (len(listed) > _SHOWN)}"
        for words, listed in (("no numbers in", others), ("gaps in", gaps))
        if listed
    ]
    raise ValueError(
        f"X has {' and '.join(what)}: give a schema. A public codebook costs nothing ('pacsklearn "
        "schema', or Schema.template, drafts one). 'from table' looks up the kinds, the categories "
        "of at least ten units and the rounded ranges of its columns, publishes them exactly, and "
        "leaves presence in the table unprotected."
    )
