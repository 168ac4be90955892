"""Linear classifiers, imputers and naive Bayes of bits and categories in ONNX, in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph


def linear(graph: OnnxGraph, model: Any) -> None:
    """Add a linear decision function with its labels.

    Raises
    ------
    NotImplementedError
        When a row has several labels.
    """
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    shift = np.broadcast_to(np.ravel(model.intercept_), (weights.shape[0],)).astype(np.float64)
    classes = model.classes_
    if not isinstance(classes, np.ndarray) or len(classes) != max(weights.shape[0], 2):
        raise NotImplementedError("several labels a row")
    decision(graph, model, weights, shift)


def decision(graph: OnnxGraph, model: Any, weights: Floats, shift: Floats) -> None:
    """Add linear scores, one for each class or one for the second of two."""
    count = len(model.classes_)
    scores = graph.node("Add", graph.matrix(graph.rows, weights.T), shift[None])
    graph.labels(scores if len(weights) > 1 else graph.after_zero(scores), model.classes_)
    graph.output(scores, "scores", DOUBLE, [None, len(weights)])
    if hasattr(model, "predict_proba"):
        graph.probabilities(_one_against_rest(graph, scores, count), count)


def _one_against_rest(graph: OnnxGraph, scores: str, n_classes: int) -> str:
    """Return the logistic probabilities of each class against the rest, made to sum to one."""
    likely = graph.node("Sigmoid", scores)
    if n_classes == 2:
        return graph.node(
            "Concat", graph.node("Sigmoid", graph.node("Neg", scores)), likely, axis=1
        )
    total = graph.node("ReduceSum", likely, np.array([1]), keepdims=1)
    return graph.node("Div", likely, total)


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
    missing = (
        graph.node("IsNaN", graph.rows)
        if isinstance(code, float) and np.isnan(code)
        else graph.node("Equal", graph.rows, np.float64(code))
    )
    filled = graph.node("Where", missing, fill.astype(np.float64)[None], graph.rows)
    graph.output(filled, "variable", DOUBLE, [None, model.n_features_in_])


def categories(graph: OnnxGraph, model: Any) -> None:
    """Add naive Bayes on columns that hold the number of a category."""
    codes = graph.node("Cast", graph.rows, to=7)
    scores = [graph.constant(np.asarray(model.class_log_prior_, dtype=np.float64)[None])]
    for place, table in enumerate(model.feature_log_prob_):
        code = graph.node("Gather", codes, np.array([place]), axis=1)
        known = graph.constant(np.ascontiguousarray(np.asarray(table, dtype=np.float64).T))
        likelihood = graph.node("Gather", known, code, axis=0)  # (rows, 1, classes)
        scores.append(graph.node("Squeeze", likelihood, np.array([1])))
    _likeliest(graph, graph.node("Sum", *scores), model)


def bits(graph: OnnxGraph, model: Any) -> None:
    """Add naive Bayes on features that are there or not."""
    there = graph.rows
    if model.binarize is not None:
        above = graph.node("Greater", there, np.float64(model.binarize))
        there = graph.node("Cast", above, to=11)
    likely = np.asarray(model.feature_log_prob_, dtype=np.float64)
    absent = np.log1p(-np.exp(likely))
    shift = absent.sum(axis=1) + model.class_log_prior_
    total = graph.node("Add", graph.matrix(there, (likely - absent).T), shift[None])
    _likeliest(graph, total, model)


def _likeliest(graph: OnnxGraph, total: str, model: Any) -> None:
    """Add labels and probabilities by the joint log-likelihood of each class."""
    graph.labels(total, model.classes_)
    graph.probabilities(graph.node("Softmax", total, axis=1), len(model.classes_))
