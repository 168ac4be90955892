"""Which columns a model reads, and rows that have them: public, and the same on every wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.tensors import WIRE, typed

_MEAN_TEXT: Final = 1_000
"""Characters that a row may hold, on average: one text may stand in every row of a stream."""


@final
@dataclass(frozen=True)
class Signature:
    """Columns of a model.

    Parameters
    ----------
    kinds : dict of str to {"number", "integer", "boolean", "text"}
        By name, in order.

    Notes
    -----
    Rows are brought to one form before they are named by a digest, so that the same row gets the
    same stored answer whatever client and number format it came by. Where all columns are numbers
    that form is one matrix of doubles, otherwise a data frame.
    """

    kinds: dict[str, str]

    @classmethod
    def of(cls, table: Mapping[str, NDArray[Any]]) -> Signature:
        """Return what a model of these columns reads: doubles, where all are numbers."""
        exact = cls.exact(table)
        return exact if exact._texts else cls(dict.fromkeys(exact.kinds, "number"))

    @classmethod
    def exact(cls, table: Mapping[str, NDArray[Any]]) -> Signature:
        """Return the columns as they are."""
        kinds = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}
        columns = table.items()
        return cls({n: kinds.get(np.asarray(column).dtype.kind, "text") for n, column in columns})

    @property
    def is_matrix(self) -> bool:
        """Whether rows are a matrix of doubles."""
        return set(self.kinds.values()) == {"number"}

    def facts(self) -> list[dict[str, str]]:
        """Return plain facts, for JSON."""
        return [{"name": name, "kind": kind} for name, kind in self.kinds.items()]

    @classmethod
    def from_facts(cls, facts: Sequence[Mapping[str, str]]) -> Signature:
        """Return the signature that :meth:`facts` described."""
        return cls({each["name"]: each["kind"] for each in facts})

    def v2_inputs(self) -> list[dict[str, Any]]:
        """Return the inputs as the Open Inference Protocol describes them."""
        if self.is_matrix:
            return [{"name": "X", "datatype": "FP64", "shape": [-1, len(self.kinds)]}]
        return [
            {"name": name, "datatype": WIRE[kind][0], "shape": [-1]}
            for name, kind in self.kinds.items()
        ]

    def matrix(self, values: Any) -> dict[str, NDArray[Any]]:
        """Return the columns of a table given without names, in the signature's order."""
        try:
            table = np.asarray(values)
        except ValueError:
            raise Problem("invalid", "The rows must all have the same number of values.") from None
        if table.ndim != 2 or table.shape[1] != len(self.kinds):
            raise Problem(
                "invalid",
                f"The rows must have shape (n, {len(self.kinds)}), got "
                f"{tuple(table.shape)}; the columns are described by the model's metadata.",
            )
        if table.dtype.kind in "OUS":  # numbers beside texts stay what they are
            table = np.asarray(values, dtype=object)
        return {name: table[:, i] for i, name in enumerate(self.kinds)}

    def checked(self, columns: Mapping[str, Any], *, most: int) -> dict[str, NDArray[Any]]:
        """Return the columns in their own types and in order.

        Raises
        ------
        Problem
            Names columns and limits, and quotes no value.
        """
        missing = [name for name in self.kinds if name not in columns]
        if missing or len(columns) != len(self.kinds):
            extra = len(columns) - (len(self.kinds) - len(missing))
            raise Problem(
                "invalid",
                f"The columns must be those of the model's metadata: {len(missing)} are missing"
                f"{f' (the first is {missing[0]!r})' if missing else ''}, {extra} are unknown.",
            )
        lengths = {len(columns[name]) for name in self.kinds}
        if len(lengths) != 1 or not 1 <= max(lengths) <= most:
            raise Problem(
                "too-large" if lengths and max(lengths) > most else "invalid",
                f"A request holds from 1 to {most} rows, and as many values in every column.",
            )
        try:
            table = {name: typed(columns[name], name, kind) for name, kind in self.kinds.items()}
        except ValueError as error:  # names a column, and quotes no value
            raise Problem("invalid", f"{error}.") from None
        size = sum(len(text) for name in self._texts for text in table[name].tolist())
        if size > most * _MEAN_TEXT:
            raise Problem("too-large", f"A request holds {most * _MEAN_TEXT} characters at most.")
        return table

    @property
    def _texts(self) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind == "text"]

    def rows(self, columns: Mapping[str, NDArray[Any]]) -> Any:
        """Return what the models are asked: a matrix, or a data frame."""
        if self.is_matrix:
            return np.ascontiguousarray(np.column_stack([columns[name] for name in self.kinds]))
        import pandas as pd

        return pd.DataFrame({name: columns[name] for name in self.kinds})

    def packed(self, columns: Mapping[str, NDArray[Any]]) -> bytes:
        """Return the checked columns as bytes whose reading runs no code."""
        texts = {name: columns[name].tolist() for name in self._texts}
        n = len(next(iter(columns.values())))
        header = json.dumps({"n": n, "texts": texts}).encode()
        numbers = [
            np.ascontiguousarray(columns[name], dtype=WIRE[kind][1]).tobytes()
            for name, kind in self.kinds.items()
            if name not in texts
        ]
        return b"".join([len(header).to_bytes(8, "little"), header, *numbers])

    def unpacked(self, content: bytes) -> dict[str, NDArray[Any]]:
        """Return the columns that :meth:`packed` wrote."""
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        columns: dict[str, NDArray[Any]] = {}
        for name, kind in self.kinds.items():
            if kind == "text":
                columns[name] = np.asarray(header["texts"][name], dtype=object)
                continue
            dtype = np.dtype(WIRE[kind][1])
            columns[name] = np.frombuffer(content, dtype, header["n"], end)
            end += header["n"] * dtype.itemsize
        return columns
