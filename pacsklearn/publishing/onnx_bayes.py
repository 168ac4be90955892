"""Naive Bayes of columns without sizes, in ONNX and double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.publishing.onnx_graph import DOUBLE, OnnxGraph


def bernoulli_graph(model: Any) -> Any:
    """Naive Bayes of columns that are there or not."""
    graph = OnnxGraph()
    rows = graph.input("X", DOUBLE, model.n_features_in_)
    there = rows
    if model.binarize is not None:
        there = graph.node("Greater", rows, np.float64(model.binarize))
        there = graph.node("Cast", there, to=11)
    absent = np.log1p(-np.exp(model.feature_log_prob_))
    weights = np.asarray(model.feature_log_prob_ - absent, dtype=np.float64)
    prior = np.asarray(model.class_log_prior_ + absent.sum(axis=1), dtype=np.float64)
    scores = graph.node("Add", graph.matrix(there, weights.T), prior[None])
    graph.labels(scores, model.classes_)
    count = len(model.classes_)
    graph.probabilities(graph.node("Softmax", scores, axis=1), count)
    return graph.model("bernoulli_naive_bayes")


def categorical_graph(model: Any) -> Any:
    """Naive Bayes of columns that hold the number of a category."""
    graph = OnnxGraph()
    rows = graph.input("X", DOUBLE, model.n_features_in_)
    codes = graph.node("Cast", rows, to=7)
    scores = [graph.constant(np.asarray(model.class_log_prior_, dtype=np.float64)[None])]
    for place, table in enumerate(model.feature_log_prob_):
        code = graph.node("Gather", codes, np.array([place]), axis=1)
        known = graph.constant(np.ascontiguousarray(np.asarray(table, dtype=np.float64).T))
        likelihood = graph.node("Gather", known, code, axis=0)  # (rows, 1, classes)
        scores.append(graph.node("Squeeze", likelihood, np.array([1])))
    total = graph.sum(scores)
    count = len(model.classes_)
    graph.labels(total, model.classes_)
    graph.probabilities(graph.node("Softmax", total, axis=1), count)
    return graph.model("categorical_naive_bayes")
