"""Transformers that skl2onnx does not know, in ONNX and double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph


def affine(graph: OnnxGraph, model: Any) -> None:
    """Add an affine transformer, read off its outputs.

    Of the origin it gives the vector, and of each unit vector a row of the matrix more.
    """
    width = model.n_features_in_
    # The images of zero and of the unit vectors say all about an affine map.
    start, *moved = np.asarray(_plain(model, np.vstack([np.zeros(width), np.eye(width)])))
    turned = graph.matrix(graph.rows, np.stack(moved) - start)
    graph.output(graph.node("Add", turned, start[None]), "variable", DOUBLE, [None, len(start)])


def imputer(graph: OnnxGraph, model: Any) -> None:
    """Replace missing numbers by the imputer's.

    Raises
    ------
    NotImplementedError
        When it adds indicators, fills in texts or leaves columns out.
    """
    fill = np.asarray(model.statistics_)
    if model.add_indicator or fill.dtype.kind not in "iuf" or np.isnan(fill).any():
        raise NotImplementedError("an imputer of texts, or with indicators")
    code = model.missing_values
    if isinstance(code, float) and np.isnan(code):
        missing = graph.node("IsNaN", graph.rows)
    else:
        missing = graph.node("Equal", graph.rows, np.float64(code))
    filled = graph.node("Where", missing, fill.astype(np.float64)[None], graph.rows)
    graph.output(filled, "variable", DOUBLE, [None, model.n_features_in_])


def bins(graph: OnnxGraph, model: Any) -> None:
    """Add a discretizer.

    How many inner edges a value reaches, as a number or one column a bin.
    """
    is_wide = model.encode != "ordinal"
    blocks, width = [], 0
    for place, edges in enumerate(model.bin_edges_):
        value = graph.node("Gather", graph.rows, np.array([place]), axis=1)
        inner = np.asarray(edges[1:-1], dtype=np.float64)[None]
        reached = graph.node("Cast", graph.node("GreaterOrEqual", value, inner), to=7)
        code = graph.node("ReduceSum", reached, np.array([1]), keepdims=1)
        if is_wide:
            known = np.arange(len(edges) - 1, dtype=np.int64)[None]
            code = graph.node("Equal", code, known)
        blocks.append(graph.node("Cast", code, to=11))
        width += len(edges) - 1 if is_wide else 1
    graph.output(graph.node("Concat", *blocks, axis=1), "variable", DOUBLE, [None, width])


def cosines(graph: OnnxGraph, model: Any) -> None:
    """Add random Fourier features."""
    weights = np.asarray(model.random_weights_, dtype=np.float64)
    offset = np.asarray(model.random_offset_, dtype=np.float64)[None]
    waves = graph.node("Cos", graph.node("Add", graph.matrix(graph.rows, weights), offset))
    scaled = graph.node("Mul", waves, np.float64(np.sqrt(2 / weights.shape[1])))
    graph.output(scaled, "variable", DOUBLE, [None, weights.shape[1]])


def powers(graph: OnnxGraph, model: Any) -> None:
    """Add a power transformer (Yeo-Johnson or Box-Cox), standardised."""
    powers = np.asarray(model.lambdas_, dtype=np.float64)[None]
    rows = graph.rows
    if model.method == "box-cox":
        values = _risen(graph, rows, powers)
    else:
        one, zero = np.float64(1), np.float64(0)
        above = _risen(graph, graph.node("Add", graph.node("Max", rows, zero), one), powers)
        below = _risen(graph, graph.node("Sub", one, graph.node("Min", rows, zero)), 2 - powers)
        values = graph.node("Sub", above, below)
    if model.standardize:
        scaler = model._scaler
        centred = graph.node("Sub", values, np.asarray(scaler.mean_, dtype=np.float64)[None])
        values = graph.node("Div", centred, np.asarray(scaler.scale_, dtype=np.float64)[None])
    graph.output(values, "variable", DOUBLE, [None, model.n_features_in_])


def _risen(graph: OnnxGraph, value: str, powers: Any) -> str:
    """Return ``(value ** power - 1) / power``, and the logarithm where the power is 0."""
    is_log = np.abs(powers) < np.finfo(np.float64).eps
    # Both branches are computed: the one that is not taken must not divide by zero.
    safe = np.where(is_log, 1.0, powers)
    raised = graph.node("Sub", graph.node("Pow", value, safe), np.float64(1))
    return graph.node("Where", is_log, graph.node("Log", value), graph.node("Div", raised, safe))


def _plain(model: Any, rows: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return model.transform(rows)
    import pandas as pd

    return model.transform(pd.DataFrame(rows, columns=names))
