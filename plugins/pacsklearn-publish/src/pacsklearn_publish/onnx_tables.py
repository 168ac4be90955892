"""Public codebooks in ONNX: one input for each column of a table."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pacsklearn._validation import is_real
from pacsklearn.tabular.additive.terms import placed
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.encodings import Encoding
from pacsklearn.tabular.schema.values import MISSING, OUTSIDE, keys_of
from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph

_NUMBERS: Final = ("number", "date")
_LARGEST: Final = np.finfo(np.float64).max


def encoder(graph: OnnxGraph, model: Any) -> None:
    """Add an encoder of a table.

    Numbers are doubles (dates: days since 1970), the others text.

    Raises
    ------
    NotImplementedError
        For texts, whose words no operator takes apart as we do.
    """
    blocks: list[str] = []
    for name, encoding in model._encodings():
        column = model.schema[name]
        read = _numbers if column.kind in _NUMBERS else _categories
        features, missing = read(graph, encoding)
        blocks.append(features)
        if model._has_indicator(column):
            blocks.append(graph.node("Cast", missing, to=11))
    width = len(model.get_feature_names_out())
    graph.output(graph.node("Concat", *blocks, axis=1), "variable", DOUBLE, [None, width])


def additive(graph: OnnxGraph, model: Any) -> None:
    """Add an additive model: for each term, the numbers of the level that a row has."""
    inputs: dict[str, str] = {}
    scores = [graph.node("Unsqueeze", np.asarray(model.intercept_), np.array([0]))]
    for term, own in placed(model.terms_):
        code = ""
        for column, size in zip(term.columns, term.sizes, strict=True):
            level = _level(graph, inputs, column, size - 1, term.n_bins)
            before = graph.node("Mul", code, np.array(size, dtype=np.int64)) if code else ""
            code = graph.node("Add", before, level) if before else level
        table = graph.constant(model.coef_.T[own])
        contribution = graph.node("Gather", table, code, axis=0)  # (rows, 1, scores)
        scores.append(graph.node("Squeeze", contribution, np.array([1])))
    total = graph.node("Sum", *scores)
    classes = getattr(model, "classes_", None)
    if classes is None:
        ends = model._range()
        value = total if ends is None else graph.node("Clip", total, *map(np.float64, ends))
        graph.output(value, "variable", DOUBLE, [None, 1])
        return
    if len(classes) == 2:
        yes, no = (graph.node("Sigmoid", one) for one in (total, graph.node("Neg", total)))
        total = graph.node("Concat", no, yes, axis=1)
        graph.probabilities(total, 2)
    else:
        graph.probabilities(graph.node("Softmax", total, axis=1), len(classes))
    graph.labels(total, classes)


def _numbers(graph: OnnxGraph, encoding: Encoding) -> tuple[str, str]:
    column, (low, high) = encoding.column, encoding.column.bounds
    numbers, missing, absent = _read_numbers(graph, column.name, column)
    filled = graph.node("Where", absent, np.float64((low + high) / 2), numbers)
    least = -_LARGEST if column.low is None else np.float64(low)
    most = _LARGEST if column.high is None else np.float64(high)
    inside = graph.node("Clip", filled, least, most)
    if encoding.kind == "scaled":
        within = graph.node("Clip", inside, np.float64(low), np.float64(high))
        shift = graph.node("Sub", within, np.float64(low))
        if column.scale == "log":
            grown = graph.node("Log", graph.node("Add", shift, np.float64(1)))
            return graph.node("Div", grown, np.log1p(high - low)), missing
        return graph.node("Div", shift, np.float64(high - low)), missing
    above = graph.node("GreaterOrEqual", inside, column.cuts(encoding.n_bins)[None])
    reached = graph.node("Cast", above, to=11)
    if encoding.kind == "thermometer":
        return reached, missing
    # One for all bounds below the value, minus one for all bounds but the last of these.
    one = graph.node("GreaterOrEqual", inside, np.array([[-np.inf]]))
    first = graph.node("Cast", one, to=11)
    none = graph.node("Sub", first, first)
    upper = graph.node("Concat", first, reached, axis=1)
    return graph.node("Sub", upper, graph.node("Concat", reached, none, axis=1)), missing


def _categories(graph: OnnxGraph, encoding: Encoding) -> tuple[str, str]:
    column = encoding.column
    codes = _read_codes(graph, column)
    missing = graph.node("Equal", codes, np.array(MISSING, dtype=np.int64))
    count = len(column.categories)
    if encoding.kind == "onehot":
        known = np.arange(count, dtype=np.int64)[None]
        return graph.node("Cast", graph.node("Equal", codes, known), to=11), missing
    if encoding.kind == "flag":
        one = graph.node("Equal", codes, np.array(1, dtype=np.int64))
        return graph.node("Cast", one, to=11), missing
    if encoding.kind == "thermometer":
        reach = np.arange(1, count, dtype=np.int64)[None]
        return graph.node("Cast", graph.node("GreaterOrEqual", codes, reach), to=11), missing
    if encoding.kind == "ordinal":
        least = graph.node("Max", codes, np.array(-1, dtype=np.int64))
        return graph.node("Cast", least, to=11), missing
    raise NotImplementedError(f"texts such as column {column.name!r}")


def _level(
    graph: OnnxGraph, inputs: dict[str, str], column: Column, count: int, n_bins: int
) -> str:
    """Return the level of a term that each row has; the last one where there is no value."""
    place = np.array(count, dtype=np.int64)
    if column.kind in _NUMBERS:
        if column.name not in inputs:
            inputs[column.name] = graph.input(column.name, DOUBLE, 1)
        numbers, _, absent = _read_numbers(graph, inputs[column.name], column, fresh=False)
        cuts = column.cuts(n_bins).astype(np.float64)
        reached = graph.node("Cast", graph.node("GreaterOrEqual", numbers, cuts[None]), to=7)
        code = graph.node("ReduceSum", reached, np.array([1]), keepdims=1)
        return graph.node("Where", absent, place, code)
    if column.name not in inputs:
        inputs[column.name] = _read_codes(graph, column)
    codes = inputs[column.name]
    return graph.node("Where", graph.node("Less", codes, np.array(0)), place, codes)


def _read_numbers(
    graph: OnnxGraph, name: str, column: Column, *, fresh: bool = True
) -> tuple[str, str, str]:
    """Return numbers; where a value is missing; and where it is missing or infinite."""
    numbers = graph.input(name, DOUBLE, 1) if fresh else name
    missing = graph.node("IsNaN", numbers)
    for code in column.missing:
        if is_real(code):
            same = graph.node("Equal", numbers, np.float64(code))
            missing = graph.node("Or", missing, same)
    endless = graph.node("Greater", graph.node("Abs", numbers), _LARGEST)
    return numbers, missing, graph.node("Or", missing, endless)


def _read_codes(graph: OnnxGraph, column: Column) -> str:
    """Return the position of each text among the categories, or the code of none of them."""
    keys = keys_of(column.categories, column.missing)
    texts = graph.input(column.name, "STRING", 1)
    codes: dict[str, Any] = {"keys_strings": list(keys), "values_int64s": list(keys.values())}
    return graph.node("LabelEncoder", texts, **codes, default_int64=OUTSIDE)
