"""Rows made up from what is public, to compare two forms of one model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
from sklearn.base import BaseEstimator

from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.values import as_days, as_numbers, key_of
from pacsklearn_publish.inputs import model_inputs, model_parts, model_schema

_COUNT: Final = 512


def probe_rows(model: Any, count: int = _COUNT) -> Any:
    """Return rows that the model reads, the same every time; no row of any data set is among them.

    Parameters
    ----------
    model : estimator
        Released.
    count : int

    Returns
    -------
    ndarray or DataFrame of ``count`` rows
        With a codebook, a table of its values, missing ones and strange ones included; categories
        where it reads nothing else; numbers of sizes from a tenth to a thousand otherwise.
    """
    generator = np.random.default_rng(0)
    schema = model_schema(model)
    if schema is not None:
        import pandas as pd

        return pd.DataFrame({column.name: _values(column, generator, count) for column in schema})
    fields = [field["name"] for field in model_inputs(model)["columns"]["fields"]]
    codes = _codes(model)
    if codes is not None:
        chosen = [one[generator.integers(len(one), size=count)] for one in codes]
        return _named(fields, np.column_stack(chosen))
    sizes = 10 ** generator.uniform(-1, 3, size=(count, 1))
    return _named(fields, generator.normal(size=(count, len(fields))) * sizes)


def is_released(model: Any, method: str) -> bool:
    """Return whether a method finds all numbers it needs: ``PCA.score_samples`` does not."""
    try:
        getattr(model, method)(probe_rows(model, 1))
    except NotImplementedError:
        return False
    except AttributeError as error:  # of the model; one of the rows says that they are of no use
        return not isinstance(error.obj, BaseEstimator)
    except Exception:  # noqa: BLE001 - made-up rows may be none that it reads
        return True
    return True


def runtime_inputs(table: Any, names: Sequence[str], schema: Schema | None) -> dict[str, Any]:
    """Return the rows as ONNX inputs: one matrix, or a column of numbers or texts for each name."""
    if list(names) == ["X"]:
        return {"X": np.asarray(table, dtype=np.float64)}
    import pandas as pd

    assert schema is not None
    inputs = {}
    for name in names:
        column, values = schema[name], table[name].to_numpy()
        if column.kind in ("number", "date"):
            read = as_days if column.kind == "date" else as_numbers
            numbers, strange = read(values, column.missing)
            inputs[name] = np.where(strange, np.inf, numbers)[:, None]
        else:
            texts = ["" if pd.isna(value) else key_of(value) for value in values.tolist()]
            inputs[name] = np.array(texts, dtype=object)[:, None]
    return inputs


def _codes(model: Any) -> list[Any] | None:
    """Return numbers that each column may be, where the model reads nothing else."""
    for part in model_parts(model):
        categories = getattr(part, "categories_", None)
        if categories is not None and all(
            np.asarray(one).dtype.kind in "biuf" for one in categories
        ):
            return [np.asarray(one) for one in categories]
        counts = getattr(part, "n_categories_", None)
        if counts is not None:
            return [np.arange(int(count)) for count in counts]
    return None


def _named(fields: list[str], rows: Any) -> Any:
    if fields == [f"x{place}" for place in range(len(fields))]:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=fields)


def _values(column: Column, generator: np.random.Generator, count: int) -> Any:
    if column.kind in ("number", "date"):
        low, high = column.bounds
        values = generator.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), size=count)
        # At fixed places: missing values are compared in every run.
        values[::17] = np.nan
        if column.kind == "number":
            return values
        start = date(1970, 1, 1)
        days = [None if np.isnan(day) else start + timedelta(days=int(day)) for day in values]
        return np.array(days, dtype=object)
    known = [*column.categories, *column.missing, None, "none of them"]
    if column.kind in ("text", "ignored"):
        known = ["some words", "other words", None]
    chosen = np.empty(count, dtype=object)
    chosen[:] = [known[place] for place in generator.integers(len(known), size=count)]
    return chosen
