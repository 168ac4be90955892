"""Forests of complete trees, and nearest centroids, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph


def forest(graph: OnnxGraph, model: Any) -> None:
    """Add a forest as matrix products.

    All questions, then the one leaf whose path they answer.
    """
    n_trees, n_nodes = model.features_.shape
    values = graph.node("Gather", graph.rows, model.features_.ravel().astype(np.int64), axis=1)
    above = graph.node("Greater", values, model.thresholds_.ravel()[None])
    turns = graph.reshape(graph.node("Cast", above, to=1), -1, n_trees, n_nodes)
    paths, lefts = _paths(n_nodes + 1)
    agreeing = graph.node("Add", graph.node("MatMul", turns, paths), lefts)
    depth = np.log2(n_nodes + 1)
    # Counts of turns are small whole numbers, exact in single precision.
    reached = graph.node("Greater", agreeing, np.float32(depth - 0.5))
    n_leaves, width = model.leaf_values_.shape[1:]
    flat = graph.reshape(graph.node("Cast", reached, to=11), -1, n_trees * n_leaves)
    average = graph.matrix(flat, model.leaf_values_.reshape(-1, width) / n_trees)
    classes = getattr(model, "classes_", None)
    if classes is None:
        ends = model.target_range
        value = average if ends is None else graph.node("Clip", average, *map(np.float64, ends))
        graph.output(value, "variable", DOUBLE, [None, 1])
    else:
        graph.labels(average, classes)
        graph.probabilities(_on_simplex(graph, average, width), width)


def centroid(graph: OnnxGraph, model: Any) -> None:
    """Add the nearest centroid.

    Where classes have unequal priors, by the discriminant score.
    """
    n_classes = len(model.classes_)
    near = graph.node("Neg", _distances(graph, graph.rows, model.centroids_, model.metric))
    spread = np.asarray(getattr(model, "within_class_std_dev_", np.ones(1)), dtype=np.float64)
    spread = np.where(spread == 0, 1.0, spread)
    prior = np.asarray(getattr(model, "class_prior_", np.full(n_classes, 1 / n_classes)))
    scaled = graph.node("Div", graph.rows, spread)
    in_units = _distances(graph, scaled, model.centroids_ / spread, model.metric)
    squared = graph.node("Mul", in_units, in_units)
    scores = graph.node("Sub", 2 * np.log(prior)[None], squared)
    even = bool(np.isclose(prior, 1 / n_classes).all())
    graph.labels(near if even else scores, model.classes_)
    if hasattr(model, "predict_proba"):
        graph.probabilities(graph.node("Softmax", scores, axis=1), n_classes)


def _distances(graph: OnnxGraph, rows: str, centres: Floats, metric: str) -> str:
    apart = graph.node("Sub", graph.node("Unsqueeze", rows, np.array([1])), centres[None])
    last = np.array([2])
    if metric == "manhattan":
        return graph.node("ReduceSum", graph.node("Abs", apart), last, keepdims=0)
    squares = graph.node("ReduceSum", graph.node("Mul", apart, apart), last, keepdims=0)
    return graph.node("Sqrt", squares)


def _paths(n_leaves: int) -> tuple[Any, Any]:
    """Return the turns that lead to each leaf: 1 for right, -1 for left; and how many are left."""
    n_nodes = n_leaves - 1
    paths = np.zeros((n_nodes, n_leaves), dtype=np.float32)
    for leaf in range(n_leaves):
        node = leaf + n_nodes
        while node:
            parent = (node - 1) // 2
            paths[parent, leaf] = 1 if node == 2 * parent + 2 else -1
            node = parent
    return paths, (paths < 0).sum(axis=0, dtype=np.float32)


def _on_simplex(graph: OnnxGraph, rows: str, width: int) -> str:
    """Project as :func:`pacsklearn.tabular.forests.fixed_structure_forest.on_simplex`."""
    order = np.array([width], dtype=np.int64)
    descending = graph.node("TopK", rows, order, axis=1, n_outputs=2)
    total = graph.node("CumSum", descending, np.array(1, dtype=np.int64))
    over = graph.node("Sub", total, np.float64(1))
    excess = graph.node("Div", over, np.arange(1.0, width + 1)[None])
    used = graph.node("Cast", graph.node("Greater", descending, excess), to=7)
    count = graph.node("ReduceSum", used, np.array([1]), keepdims=1)
    last = graph.node("Sub", count, np.array(1, dtype=np.int64))
    level = graph.node("GatherElements", excess, last, axis=1)
    return graph.node("Max", graph.node("Sub", rows, level), np.float64(0))
