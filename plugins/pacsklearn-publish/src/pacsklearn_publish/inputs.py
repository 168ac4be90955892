"""What a released model reads and what it gives, for whoever has to feed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from pacsklearn.estimators.averaged import AveragedClassifier
from pacsklearn.tabular.schema.schema import Schema

_METHODS: Final = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "inverse_transform",
    "score_samples",
)


def model_parts(model: Any) -> Iterator[Any]:
    """Yield the model and the first step of it that does something, and of that, and so on."""
    yield model
    if isinstance(model, AveragedClassifier):
        yield from model_parts(model.estimator)
    for _, step in getattr(model, "steps", ()):
        if step is not None and step != "passthrough":
            yield from model_parts(step)
            return


def model_schema(model: Any) -> Schema | None:
    """Return the public codebook of the table a model reads, if it has one."""
    for part in model_parts(model):
        for name in ("schema_", "schema"):
            schema = getattr(part, name, None)
            if isinstance(schema, Schema):
                return schema
    return None


def _texts(part: Any, names: Sequence[Any]) -> Iterator[Any]:
    """Yield the columns whose categories are listed, and are texts."""
    table = np.asarray(names, dtype=object)
    for _, step, columns in getattr(part, "transformers_", [("", part, slice(None))]):
        is_named = not isinstance(columns, slice) and all(isinstance(c, str) for c in columns)
        own = columns if is_named else table[columns]
        for inner in [step, *(each for _, each in getattr(step, "steps", ()))]:
            for name, listed in zip(own, getattr(inner, "categories_", ()), strict=False):
                if any(isinstance(each, str) for each in listed):
                    yield name


def model_inputs(model: Any) -> dict[str, Any]:
    """Return the columns that the model reads, and what can be asked of it.

    Parameters
    ----------
    model : estimator
        Released.

    Returns
    -------
    dict
        ``columns`` is a Table Schema: the public codebook where the model has one, the names of
        the features otherwise. ``methods`` and ``classes`` say what comes out.
    """
    first = next((part for part in model_parts(model) if hasattr(part, "n_features_in_")), model)
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        names = [f"x{place}" for place in range(getattr(first, "n_features_in_", 0))]
    schema = model_schema(model)
    texts = {name for part in model_parts(model) for name in _texts(part, names)}
    fields = [{"name": str(n), "type": "string" if n in texts else "number"} for n in names]
    document: dict[str, Any] = {
        "columns": {"fields": fields} if schema is None else schema.to_table_schema(),
        "methods": [name for name in _METHODS if hasattr(model, name)],
    }
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray):
        document["classes"] = classes.tolist()
    return document
