"""Tables that strangers send: MLflow's JSON, CSV, Arrow streams and Parquet files."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from typing import Any, Final

import pandas as pd  # noqa: F401 - pyarrow loads it otherwise when the first table comes
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv, types

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.schemas import (
    ARROW,
    CSV,
    JSON,
    PARQUET,
    Columns,
    Invocation,
    Split,
    parsed_json,
)
from pacsklearn_service.server.web.v2_protocol import Rows

_MOST_COLUMNS: Final = 10_000


def any_table(body: bytes, kind: str, *, most: int, most_bytes: int) -> dict[str, NDArray[Any]]:
    """Return the columns of a table with names.

    Parameters
    ----------
    body : bytes
    kind : str
        Media type.
    most, most_bytes : int
        Rows, and bytes after decompression.
    """
    if kind not in _READERS:
        raise Problem(
            "unsupported-media-type", f"Content-Type must be one of {', '.join(_READERS)}."
        )
    try:
        table = _READERS[kind](body, most, most_bytes)
        # Offsets in the body may point outside it, and are not looked at otherwise.
        table.validate(full=True)
        return _columns(table, most, most_bytes)
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, struct.error):
        wrong = f"The body must be a table of the type {kind}, without a Content-Encoding."
        raise Problem("bad-request", _wrong_csv(body) if kind == CSV else wrong) from None


def mlflow_table(body: bytes, signature: Signature, most: int) -> Rows:
    """Return the columns of a request as MLflow's scoring server takes it, and its parameters."""
    asked = parsed_json(Invocation, body)
    forms = [asked.dataframe_split, asked.dataframe_records, asked.instances, asked.inputs]
    stated = [each for each in forms if each is not None]
    if len(stated) != 1:
        raise Problem(
            "invalid",
            "The body must hold one of dataframe_split, dataframe_records, instances and inputs.",
        )
    columns = signature.checked(_mlflow(stated[0], signature), most=most)
    return Rows(signature.packed(columns), asked.params)


def _mlflow(content: Any, signature: Signature) -> dict[str, Any]:
    if isinstance(content, Split):
        if content.columns is None:
            return signature.matrix(content.data)
        try:
            values = map(list, zip(*content.data, strict=True))
            columns = dict(zip(content.columns, values, strict=True))
        except ValueError:
            raise Problem("invalid", "data must hold a value of every column.") from None
        if len(columns) != len(content.columns):
            raise Problem("invalid", "Every column must have a name of its own.")
        return columns
    if isinstance(content, dict):
        return content
    if not isinstance(content[0], dict):
        return signature.matrix(content)
    if not all(row.keys() == signature.kinds.keys() for row in content):
        raise Problem("invalid", "Every record must have the columns of the model's metadata.")
    return {name: [row[name] for row in content] for name in signature.kinds}


def written_arrow(outputs: dict[str, Any], facts: dict[str, Any]) -> bytes:
    """Return the outputs as an Arrow stream; the other facts are in the schema's metadata."""
    table = pa.table({name: pa.array(values) for name, values in outputs.items()})
    table = table.replace_schema_metadata({"pacsklearn": json.dumps(facts)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _json(body: bytes, *_: int) -> Any:
    columns = parsed_json(Columns, body).columns
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _csv(body: bytes, *_: int) -> Any:
    # An empty number is missing; "NA", "true" and times are the texts they are.
    options = csv.ConvertOptions(
        null_values=[""], timestamp_parsers=["none"], true_values=[], false_values=[]
    )
    table = csv.read_csv(pa.py_buffer(body), convert_options=options)
    kinds = [pa.string() if pa.types.is_temporal(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))


def _wrong_csv(body: bytes) -> str:
    """Return what is wrong with a table that could not be read; it may be a file of a form."""
    try:
        if not body.decode("utf-8-sig").strip():
            return "The CSV table is empty."
    except UnicodeDecodeError:
        return "The CSV table is not text in UTF-8, or it is compressed."
    return "The CSV table must have a line of names, and as many values in every row."


def _arrow(body: bytes, most: int, most_bytes: int) -> Any:
    batches, rows, size = [], 0, 0
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
        # Before a batch is read: forty kilobytes can inflate to gigabytes.
        if message.type != "schema" and is_compressed(message.metadata.to_pybytes()):
            raise Problem("unsupported-media-type", "Arrow streams must not be compressed.")
    with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
        _check_columns(stream.schema)
        for batch in stream:
            rows, size = rows + batch.num_rows, size + batch.nbytes
            _check_size(rows, size, most, most_bytes)
            batches.append(batch)
        return pa.Table.from_batches(batches, schema=stream.schema)


def is_compressed(message: bytes) -> bool:
    """Return whether the batch that an Arrow message describes is compressed.

    Parameters
    ----------
    message : bytes
        A flatbuffer: ``Message.fbs`` of the Arrow format, of a record or a dictionary batch.
    """

    def place(at: int) -> int:
        return at + int(struct.unpack_from("<i", message, at)[0])

    def field(table: int, slot: int) -> int:
        vtable = table - struct.unpack_from("<i", message, table)[0]
        if 4 + 2 * slot >= struct.unpack_from("<H", message, vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", message, vtable + 4 + 2 * slot)[0]
        return table + offset if offset else 0

    root = place(0)
    kind, header = message[field(root, 1)], place(field(root, 2))
    # A dictionary batch (2) holds a record batch (3), whose fourth field is the compression.
    batch = place(field(header, 1)) if kind == 2 else header
    return field(batch, 3) != 0


def _parquet(body: bytes, most: int, most_bytes: int) -> Any:
    schema = pq.read_schema(pa.py_buffer(body))
    # By index, because one text may stand in every row.
    file = pq.ParquetFile(pa.py_buffer(body), read_dictionary=schema.names)
    facts = file.metadata
    # From the footer, which whoever wrote the file could have made up: of curators only.
    size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
    _check_size(facts.num_rows, size, most, most_bytes)
    return file.read()


_READERS: Final[dict[str, Callable[..., Any]]] = {
    JSON: _json,
    CSV: _csv,
    ARROW: _arrow,
    PARQUET: _parquet,
}


def _check_size(rows: int, size: int, most: int, most_bytes: int) -> None:
    if rows > most or size > most_bytes:
        raise Problem("too-large", f"A table holds at most {most} rows.")


def _check_columns(schema: Any) -> None:
    """Refuse what no model reads, before any of it is."""
    if len(set(schema.names)) != len(schema.names) or len(schema.names) > _MOST_COLUMNS:
        raise Problem("invalid", "Every column must have a name of its own.")
    for kind in schema.types:
        inner = kind.value_type if types.is_dictionary(kind) else kind
        readers = ("integer", "floating", "string", "large_string", "boolean")
        if not any(getattr(types, f"is_{each}")(inner) for each in readers):
            wrong = "Columns must hold numbers, truth values or texts in UTF-8, and a row at least."
            raise Problem("invalid", wrong)


def _columns(table: Any, most: int, most_bytes: int) -> dict[str, NDArray[Any]]:
    _check_columns(table.schema)
    _check_size(table.num_rows, table.nbytes, most, most_bytes)
    for name in table.column_names:
        if table[name].null_count:
            raise Problem("invalid", f"Column {name!r} must hold a value in every row.")
    # Texts that came by index stay one object each, however many rows they stand in.
    return {name: table[name].to_numpy() for name in table.column_names}
