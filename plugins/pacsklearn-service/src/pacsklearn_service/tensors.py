"""Rows as tensors of the Open Inference Protocol, version 2: JSON with bytes after it."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

WIRE: Final = {
    "number": ("FP64", "<f8"),
    "integer": ("INT64", "<i8"),
    "boolean": ("BOOL", "|b1"),
    "text": ("BYTES", ""),
}
"""Data type of the Open Inference Protocol and of NumPy, for each kind of column."""
_LONGEST_TEXT: Final = 10_000


def columns_of(X: Any, kinds: dict[str, str]) -> dict[str, NDArray[Any]]:
    """Return the columns that a model reads, by name where X has names, by position otherwise.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    kinds : dict of str to str
        Of every column, by name and in order.

    Raises
    ------
    ValueError
        Names columns and shapes, and quotes no value.
    """
    if hasattr(X, "columns"):
        given = [str(each) for each in X.columns]
        missing = [name for name in kinds if name not in given]
        if missing or len(given) != len(kinds):
            raise ValueError(
                f"X must have the {len(kinds)} columns of the model on the service (see "
                f"feature_names_in_); {len(missing)} of them are missing"
                f"{f', the first is {missing[0]!r}' if missing else ''}, and X has {len(given)}"
            )
        positions = {name: i for i, name in enumerate(given)}
        columns = {name: np.asarray(X[X.columns[positions[name]]]) for name in kinds}
    else:
        table = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if table.dtype.kind in "US":  # numbers beside texts stay what they are
            table = np.asarray(X, dtype=object)
        if table.ndim != 2 or table.shape[1] != len(kinds):
            hint = "" if table.ndim == 2 else "; of one row give [row], of records a data frame"
            raise ValueError(
                f"X must have shape (n, {len(kinds)}), as the model on the service; "
                f"got {tuple(table.shape)}{hint}"
            )
        columns = {name: table[:, i] for i, name in enumerate(kinds)}
    return {name: typed(columns[name], name, kind) for name, kind in kinds.items()}


def written(
    columns: dict[str, NDArray[Any]], kinds: dict[str, str], parameters: dict[str, Any]
) -> tuple[bytes, dict[str, str]]:
    """Return the body of a request, and its headers."""
    if set(kinds.values()) == {"number"}:
        table = np.column_stack([columns[name] for name in kinds])
        tensors = [("X", "FP64", list(table.shape), np.ascontiguousarray(table, "<f8").tobytes())]
    else:
        tensors = [
            (name, WIRE[kind][0], [len(columns[name])], wire_bytes(WIRE[kind][0], columns[name]))
            for name, kind in kinds.items()
        ]
    inputs = [
        {"name": name, "datatype": datatype, "shape": shape,
         "parameters": {"binary_data_size": len(content)}}
        for name, datatype, shape, content in tensors
    ]  # fmt: skip
    header = json.dumps({"inputs": inputs, "parameters": parameters}).encode()
    return header + b"".join(content for *_, content in tensors), {
        "Content-Type": "application/octet-stream",
        "Inference-Header-Content-Length": str(len(header)),
    }


def typed(values: Any, name: str, kind: str) -> NDArray[Any]:
    """Return the column of a kind, of which every value is the one that was given.

    Raises
    ------
    ValueError
        Names the column, and quotes no value.
    """
    column = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if column.ndim != 1:
        raise ValueError(f"Column {name!r} must hold one value a row")
    if kind == "text":
        texts = column.tolist()
        if not all(isinstance(each, str) and len(each) <= _LONGEST_TEXT for each in texts):
            raise ValueError(
                f"Column {name!r} must hold texts of at most {_LONGEST_TEXT} characters"
            )
        return np.asarray(texts, dtype=object)
    is_number = column.dtype.kind in "biuf" or all(
        isinstance(each, (bool, int, float, np.number, np.bool_)) for each in column.tolist()
    )
    if not is_number:
        raise ValueError(f"Column {name!r} must hold numbers, none of them missing")
    try:
        numbers: NDArray[Any] = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"Column {name!r} must hold numbers that doubles hold") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"Column {name!r} must hold finite numbers, none of them missing")
    if kind == "number":
        return numbers
    # From 2**53 on doubles skip integers: which one was meant cannot be told.
    whole = numbers.astype(WIRE[kind][1]) if np.abs(numbers).max(initial=0) < 2**53 else None
    if whole is None or not (whole.astype(np.float64) == numbers).all():
        raise ValueError(f"Column {name!r} must hold values of the kind {kind!r}")
    return whole


def wire_bytes(datatype: str, values: Any) -> bytes:
    """Return the bytes of a tensor; of texts each one in UTF-8, after its length."""
    if datatype != "BYTES":
        return np.asarray(values, dtype=dict(WIRE.values())[datatype]).tobytes()
    encoded = [str(each).encode() for each in values]
    return b"".join(len(each).to_bytes(4, "little") + each for each in encoded)
