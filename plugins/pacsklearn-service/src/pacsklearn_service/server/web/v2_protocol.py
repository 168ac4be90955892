"""The Open Inference Protocol, version 2: tensors in JSON, or after it as bytes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import versioned
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.schemas import DTYPES, Parameters, Tensor, V2Body, parsed_json
from pacsklearn_service.tensors import wire_bytes


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """What a request asks about.

    Parameters
    ----------
    content : bytes
        The checked columns, as the model's signature packs them.
    parameters : Parameters
    body : V2Body, optional
        None for a table.
    """

    content: bytes = field(repr=False)
    parameters: Parameters = field(repr=False)
    body: V2Body | None = field(default=None, repr=False)


def read_v2(body: bytes, header_length: str | None, model: dict[str, Any], most: int) -> Rows:
    """Read a request; ``header_length`` is that of the JSON when tensors follow it."""
    header, rest = body, b""
    if header_length is not None:
        if not header_length.isascii() or not header_length.isdigit() or len(header_length) > 12:
            raise Problem("bad-request", "Inference-Header-Content-Length must be a number.")
        if int(header_length) > len(body):
            raise Problem("bad-request", "Inference-Header-Content-Length passes the body's end.")
        header, rest = body[: int(header_length)], body[int(header_length) :]
    said = parsed_json(V2Body, header)
    if said.model_name not in ("", model["name"], versioned(model["name"])[0]):
        raise Problem("invalid", f"model_name must be that of the address, {model['name']}.")
    offered = output_kinds(model)
    if any(each.name not in offered for each in said.outputs):
        raise Problem("invalid", f"outputs must be some of: {', '.join(offered)}.")
    tensors: dict[str, Any] = {}
    for each in said.inputs:
        size = each.parameters.binary_data_size
        if size is None:
            values = _flat(each)
        else:
            values, rest = _from_bytes(rest[:size], each), rest[size:]
        if each.name in tensors or len(values) != math.prod(each.shape):
            raise Problem(
                "invalid",
                "Every input must have a name of its own, and hold as many values as shape says.",
            )
        tensors[each.name] = values.reshape(each.shape)
    if rest:
        raise Problem("bad-request", "The body is longer than its tensors.")
    signature = Signature.from_facts(model["signature"])
    columns = signature.checked(_columns(tensors, signature), most=most)
    return Rows(signature.packed(columns), said.parameters, said)


def written_v2(
    model: dict[str, Any], asked: V2Body, reply: dict[str, Any]
) -> tuple[bytes, int | None]:
    """Return the body of a response, and the length of its JSON where tensors follow."""
    wanted = {each.name: each.parameters.binary_data for each in asked.outputs}
    outputs, tensors = [], []
    for name, values in reply.get("outputs", {}).items():  # a dry run has none
        if wanted and name not in wanted:
            continue
        binary = wanted.get(name, False) or (not wanted and asked.parameters.binary_data_output)
        output = {"name": name, **_described(values)}
        if binary:
            tensor = wire_bytes(output["datatype"], output.pop("data"))
            output["parameters"] = {"binary_data_size": len(tensor)}
            tensors.append(tensor)
        outputs.append(output)
    version = reply.pop("version", model["version"])
    parameters = {name: value for name, value in reply.items() if name != "outputs"}
    document = {
        "model_name": model["name"],
        "model_version": str(version),
        **({"id": asked.id} if asked.id else {}),
        "parameters": parameters,
        "outputs": outputs,
    }
    header = json.dumps(document, allow_nan=False).encode()
    return header + b"".join(tensors), len(header) if tensors else None


def metadata(model: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a model."""
    width = model["width"]
    sizes = {"predict": [] if model["answers"] != "values" or width == 1 else [width],
             "predict_proba": [width]}  # fmt: skip
    outputs = [
        {"name": name, "datatype": kind, "shape": [-1, *sizes[name]]}
        for name, kind in output_kinds(model).items()
    ]
    return {
        "name": model["name"],
        "versions": [str(each) for each in model["versions"]],
        "platform": "pacsklearn",
        "inputs": Signature.from_facts(model["signature"]).v2_inputs(),
        "outputs": outputs,
        "columns": model["signature"],
        "classes": model["classes"],
        "answers": model["answers"],
        "step_budget": model["step_budget"],
    }


def output_kinds(model: dict[str, Any]) -> dict[str, str]:
    """Return the data type of each output that a model has."""
    kinds = {
        "predict": "FP64" if model["classes"] is None else _described(model["classes"])["datatype"]
    }
    return kinds | ({"predict_proba": "FP64"} if model["answers"] == "probabilities" else {})


def _flat(tensor: Tensor) -> NDArray[Any]:
    wrong = f"data of {tensor.datatype} must hold values of this type, as many as shape says."
    try:
        given = np.asarray(tensor.data, dtype=object)
        if given.ndim == 0 or (given.ndim > 1 and list(given.shape) != tensor.shape):
            raise ValueError
        if any(isinstance(each, str) != (tensor.datatype == "BYTES") for each in given.flat):
            raise ValueError
        if tensor.datatype == "BYTES":
            return given.ravel()
        typed = given.astype(DTYPES[tensor.datatype])
        # What is rounded to be a single is meant so; what is cut off to be an integer is not.
        if tensor.datatype[0] != "F" and not (typed == given).all():
            raise ValueError
    except (OverflowError, ValueError, TypeError):
        raise Problem("invalid", wrong) from None
    return typed.astype(np.float64).ravel()


def _from_bytes(content: bytes, tensor: Tensor) -> NDArray[Any]:
    if tensor.datatype != "BYTES":
        dtype = np.dtype(DTYPES[tensor.datatype])
        if len(content) != math.prod(tensor.shape) * dtype.itemsize:
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
    """Return the columns from one tensor of all, or from one tensor a column."""
    if tensors.keys() != signature.kinds.keys():
        if len(tensors) == 1:
            (table,) = tensors.values()
            if table.ndim == 1 and len(signature.kinds) == table.size:
                table = table.reshape(1, -1)
            return signature.matrix(table)
        return dict(tensors)  # the signature says what is wrong
    return {
        name: each[:, 0] if each.ndim == 2 and each.shape[1] == 1 else each
        for name, each in tensors.items()
    }


def _described(values: list[Any]) -> dict[str, Any]:
    array = np.asarray(values)
    datatype = {"b": "BOOL", "i": "INT64", "f": "FP64"}.get(array.dtype.kind, "BYTES")
    return {"datatype": datatype, "shape": list(array.shape), "data": array.ravel().tolist()}
