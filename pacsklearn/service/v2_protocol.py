"""The Open Inference Protocol, version 2: tensors in JSON, or after it as bytes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.service.json_body import json_object
from pacsklearn.service.problem import Problem
from pacsklearn.service.signature import Signature

_DTYPES: Final = {
    "BOOL": "?",
    "UINT8": "<u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "INT8": "<i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FP16": "<f2",
    "FP32": "<f4",
    "FP64": "<f8",
}
_MOST_INPUTS: Final = 10_000


@final
@dataclass(frozen=True, eq=False)
class V2Request:
    """What a request asks, beside its rows.

    Parameters
    ----------
    columns : mapping of str to ndarray
    parameters : mapping
    id : str
    outputs : mapping of str to bool
        Outputs that are wanted, and whether as bytes; empty for all, as JSON.
    all_binary : bool
    """

    columns: dict[str, NDArray[Any]] = field(repr=False)
    parameters: dict[str, Any]
    id: str
    outputs: dict[str, bool]
    all_binary: bool


def read_v2(body: bytes, header_length: str | None, signature: Signature, most: int) -> V2Request:
    """Read a request; ``header_length`` is that of the JSON when tensors follow it."""
    header, rest = body, b""
    if header_length is not None:
        if not header_length.isascii() or not header_length.isdigit() or len(header_length) > 12:
            raise Problem("bad-request", "Inference-Header-Content-Length must be a number.")
        if int(header_length) > len(body):
            raise Problem("bad-request", "Inference-Header-Content-Length passes the body's end.")
        header, rest = body[: int(header_length)], body[int(header_length) :]
    parsed = json_object(header)
    inputs = parsed.get("inputs")
    if not isinstance(inputs, list) or not 0 < len(inputs) <= _MOST_INPUTS:
        raise Problem("invalid", "inputs must be a list of tensors.")
    tensors: dict[str, Any] = {}
    for each in inputs:
        name, tensor, rest = _tensor(each, rest)
        if name in tensors:
            raise Problem("invalid", "Every input must have a name of its own.")
        tensors[name] = tensor
    if rest:
        raise Problem("bad-request", "The body is longer than its tensors.")
    parameters = _parameters(parsed)
    outputs = parsed.get("outputs") or []
    if not isinstance(outputs, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in outputs
    ):
        raise Problem("invalid", "outputs must be a list of objects with names.")
    id_ = parsed.get("id", "")
    if not isinstance(id_, str) or len(id_) > 200:
        raise Problem("invalid", "id must be a text of at most 200 characters.")
    return V2Request(
        signature.checked(_columns(tensors, signature), most=most),
        parameters,
        id_,
        {each["name"]: _parameters(each).get("binary_data") is True for each in outputs},
        parameters.get("binary_data_output") is True,
    )


def written_v2(
    model: dict[str, Any], parsed: V2Request, reply: dict[str, Any]
) -> tuple[bytes, int | None]:
    """Body of a response, and the length of its JSON where tensors follow."""
    outputs, tensors = [], []
    for name, values in reply["outputs"].items():
        if parsed.outputs and name not in parsed.outputs:
            continue
        binary = parsed.outputs.get(name, False) or (not parsed.outputs and parsed.all_binary)
        output = {"name": name, **_described(values)}
        if binary:
            tensor = _bytes(output["datatype"], output.pop("data"))
            output["parameters"] = {"binary_data_size": len(tensor)}
            tensors.append(tensor)
        outputs.append(output)
    parameters = {name: value for name, value in reply.items() if name != "outputs"}
    document = {
        "model_name": model["name"],
        "model_version": "1",
        **({"id": parsed.id} if parsed.id else {}),
        "parameters": parameters,
        "outputs": outputs,
    }
    header = json.dumps(document, allow_nan=False).encode()
    return header + b"".join(tensors), len(header) if tensors else None


def metadata(model: dict[str, Any]) -> dict[str, Any]:
    """Description of a model."""
    signature = Signature.from_facts(model["signature"])
    classes = model["classes"]
    kind = "FP64"
    if classes is not None:
        kind = _datatype(classes)
    width = model["width"]
    values = [-1] if model["answers"] != "values" or width == 1 else [-1, width]
    outputs = [{"name": "predict", "datatype": kind, "shape": values}]
    if model["answers"] == "probabilities":
        outputs.append({"name": "predict_proba", "datatype": "FP64", "shape": [-1, width]})
    return {
        "name": model["name"],
        "versions": ["1"],
        "platform": "pacsklearn",
        "inputs": signature.v2_inputs(),
        "outputs": outputs,
        "columns": model["signature"],
        "classes": classes,
        "answers": model["answers"],
        "step_budget": model["step_budget"],
    }


def _parameters(facts: dict[str, Any]) -> dict[str, Any]:
    parameters = facts.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise Problem("invalid", "parameters must be an object.")
    return parameters


def _tensor(facts: Any, rest: bytes) -> tuple[str, Any, bytes]:
    if not isinstance(facts, dict) or not isinstance(facts.get("name"), str):
        raise Problem("invalid", "An input must be an object with a name.")
    shape, datatype = facts.get("shape"), facts.get("datatype")
    if not isinstance(shape, list) or not 1 <= len(shape) <= 2 or not all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each < 2**40 for each in shape
    ):  # fmt: skip
        raise Problem("invalid", "shape must be a list of one or two sizes.")
    if datatype != "BYTES" and datatype not in _DTYPES:
        raise Problem("invalid", f"datatype must be BYTES or one of {', '.join(_DTYPES)}.")
    count, size = math.prod(shape), _parameters(facts).get("binary_data_size")
    if size is None:
        values = _flat(facts.get("data"), shape, datatype)
    else:
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= len(rest):
            raise Problem("invalid", "binary_data_size must be the bytes of the tensor.")
        values, rest = _from_bytes(rest[:size], datatype, count), rest[size:]
    if len(values) != count:
        raise Problem("invalid", "data must hold as many values as shape says.")
    return facts["name"], values.reshape(shape), rest


def _flat(data: Any, shape: list[int], datatype: str) -> NDArray[Any]:
    if not isinstance(data, list):
        raise Problem("invalid", "data must be a list of values.")
    if len(shape) == 2 and data and isinstance(data[0], list):
        if not all(isinstance(row, list) and len(row) == shape[1] for row in data):
            raise Problem("invalid", "data must hold as many values as shape says.")
        data = [value for row in data for value in row]
    if datatype == "BYTES":
        if not all(isinstance(each, str) for each in data):
            raise Problem("invalid", "data of BYTES must hold texts.")
        return np.asarray(data, dtype=object)
    if not all(isinstance(each, (int, float)) for each in data):
        raise Problem("invalid", f"data of {datatype} must hold numbers.")
    try:
        exact = np.asarray(data, dtype=np.float64 if datatype[0] == "F" else object)
        return exact.astype(_DTYPES[datatype]).astype(np.float64)
    except (OverflowError, ValueError, TypeError):
        raise Problem("invalid", f"data of {datatype} must hold numbers of this type.") from None


def _from_bytes(content: bytes, datatype: str, count: int) -> NDArray[Any]:
    if datatype != "BYTES":
        dtype = np.dtype(_DTYPES[datatype])
        if len(content) != count * dtype.itemsize:
            raise Problem("invalid", "binary_data_size must be the bytes of the tensor.")
        return np.frombuffer(content, dtype)
    texts, at = [], 0
    try:
        while at < len(content):
            end = at + 4 + int.from_bytes(content[at : at + 4], "little")
            if end > len(content):
                raise ValueError
            texts.append(content[at + 4 : end].decode())
            at = end
    except ValueError:
        raise Problem("invalid", "BYTES must be lengths and texts in UTF-8.") from None
    return np.asarray(texts, dtype=object)


def _columns(tensors: dict[str, Any], signature: Signature) -> dict[str, NDArray[Any]]:
    """Columns from one tensor of all, or from one tensor a column."""
    if set(tensors) != set(signature.names):
        if len(tensors) == 1:
            (table,) = tensors.values()
            if table.ndim == 1 and len(signature.names) == table.size:
                table = table.reshape(1, -1)
            return signature.matrix(table)
        return dict(tensors)  # the signature says what is wrong
    return {
        name: each[:, 0] if each.ndim == 2 and each.shape[1] == 1 else each
        for name, each in tensors.items()
    }


def _datatype(values: list[Any]) -> str:
    flat = values[0] if values and isinstance(values[0], list) else values
    if all(isinstance(each, bool) for each in flat):
        return "BOOL"
    if all(isinstance(each, int) for each in flat):
        return "INT64"
    return "FP64" if all(isinstance(each, (int, float)) for each in flat) else "BYTES"


def _described(values: list[Any]) -> dict[str, Any]:
    shape, flat = [len(values)], values
    if values and isinstance(values[0], list):
        shape.append(len(values[0]))
        flat = [each for row in values for each in row]
    return {"datatype": _datatype(values), "shape": shape, "data": flat}


def _bytes(datatype: str, values: list[Any]) -> bytes:
    if datatype != "BYTES":
        return np.asarray(values, dtype=_DTYPES[datatype]).tobytes()
    texts = [str(each).encode() for each in values]
    return b"".join(len(each).to_bytes(4, "little") + each for each in texts)
