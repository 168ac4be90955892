"""Linear classifiers, alone and together, and naive Bayes of bits and categories in ONNX."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pacsklearn.estimators.averaged import SHARES, SLOPES, AveragedClassifier
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph, kinds

OWN: Final = ("LinearSVC", "Perceptron", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier")


def linear(graph: OnnxGraph, model: Any) -> None:
    """Add a linear decision function with its labels.

    Raises
    ------
    NotImplementedError
        When a row has several labels.
    """
    weights, shift = _linear(model)
    classes = model.classes_
    if not isinstance(classes, np.ndarray) or len(classes) != max(len(weights), 2):
        raise NotImplementedError("several labels a row")
    decision(graph, model, weights, shift)


def decision(graph: OnnxGraph, model: Any, weights: Floats, shift: Floats) -> None:
    """Add linear scores, one for each class or one for the second of two."""
    count = len(model.classes_)
    scores = graph.node("Add", graph.matrix(graph.rows, weights.T), shift[None])
    graph.labels(scores if len(weights) > 1 else graph.after_zero(scores), model.classes_)
    graph.output(scores, "scores", DOUBLE, [None, len(weights)])
    if getattr(model, "loss", None) == "modified_huber":
        graph.probabilities(_clipped_shares(graph, scores, count), count)
    elif hasattr(model, "predict_proba"):
        # Where no class is likely at all: OneVsRestClassifier gives zeros, the others equal shares.
        blank = 0.0 if hasattr(model, "estimators_") else 1 / count
        graph.probabilities(_one_against_rest(graph, scores, count, blank), count)


def discriminant(graph: OnnxGraph, model: Any) -> None:
    """Add a linear model of log-odds; skl2onnx doubles a discriminant's score of two classes."""
    weights = np.asarray(model.coef_, dtype=np.float64)
    scores = graph.node("Add", graph.matrix(graph.rows, weights.T), model.intercept_[None])
    scores = scores if len(model.classes_) > 2 else graph.after_zero(scores)
    _likeliest(graph, scores, model)


def _one_against_rest(graph: OnnxGraph, scores: str, n_classes: int, blank: float) -> str:
    """Return the logistic probabilities of each class against the rest, made to sum to one."""
    if n_classes == 2:
        signed = graph.node("Concat", graph.node("Neg", scores), scores, axis=1)
        return graph.node("Sigmoid", signed)
    # By logarithms: Sigmoid of onnxruntime is 0 below -37.
    one, zero = np.float64(1), np.float64(0)
    tail = graph.node("Exp", graph.node("Neg", graph.node("Abs", scores)))
    log_sum = graph.node("Log", graph.node("Add", tail, one))
    logs = graph.node("Sub", graph.node("Min", scores, zero), log_sum)
    total = graph.node("ReduceSum", graph.node("Exp", logs), np.array([1]), keepdims=1)
    none = graph.node("Equal", total, zero)
    return graph.node("Where", none, np.float64(blank), graph.node("Softmax", logs, axis=1))


def _clipped_shares(graph: OnnxGraph, scores: str, n_classes: int) -> str:
    """Return the probabilities of a modified Huber loss (Zhang, 2002), made to sum to one."""
    if n_classes == 2:
        scores = graph.node("Concat", graph.node("Neg", scores), scores, axis=1)
    clipped = graph.node("Clip", scores, np.float64(-1), np.float64(1))
    shares = graph.node("Div", graph.node("Add", clipped, np.float64(1)), np.float64(2))
    total = graph.node("ReduceSum", shares, np.array([1]), keepdims=1)
    none = graph.node("Equal", total, np.float64(0))
    return graph.node("Where", none, np.float64(1 / n_classes), graph.node("Div", shares, total))


def regression(graph: OnnxGraph, model: Any) -> None:
    """Add a linear prediction."""
    total = graph.matrix(graph.rows, np.asarray(model.coef_)[:, None])
    total = graph.node("Add", total, np.float64(model.intercept_))
    graph.output(total, "variable", DOUBLE, [None, 1])


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
    """Add naive Bayes on features that are there or not; skl2onnx asks for counts."""
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


def rest(graph: OnnxGraph, model: Any) -> None:
    """Add one linear model for each class against the rest."""
    if model.multilabel_:
        raise NotImplementedError("several labels a row")
    if hasattr(model, "predict_proba") and not all(map(_is_logistic, model.estimators_)):
        raise NotImplementedError(f"probabilities of {type(model.estimators_[0]).__name__}")
    decision(graph, model, *_stacked(model))


def code_book(graph: OnnxGraph, model: Any) -> None:
    """Add the class whose code word is nearest to what all linear models say."""
    weights, shift = _stacked(model)
    scores = graph.node("Add", graph.matrix(graph.rows, weights.T), shift[None])
    words = np.asarray(model.code_book_, dtype=np.float64)
    # Squared distances, without what all classes have in common.
    nearness = graph.node("Sub", graph.matrix(scores, 2 * words.T), (words**2).sum(axis=1)[None])
    graph.labels(nearness, model.classes_)


def votes(graph: OnnxGraph, model: Any) -> None:
    """Add linear classifiers' mean probabilities, or most frequent label."""
    count, ballots = len(model.classes_), []
    for member in model.estimators_:
        weights, shift = _linear(member)
        scores = graph.node("Add", graph.matrix(graph.rows, weights.T), shift[None])
        if len(weights) == 1:
            scores = graph.after_zero(scores)
        if model.voting == "soft":
            if not _is_logistic(member):
                raise NotImplementedError(f"votes of {type(member).__name__}")
            ballots.append(graph.node("Softmax", scores, axis=1))
            continue
        best = graph.node("ArgMax", scores, axis=1, keepdims=1)
        chosen = graph.node("Equal", best, np.arange(count, dtype=np.int64)[None])
        ballots.append(graph.node("Cast", chosen, to=11))
    shares = model._weights_not_none
    share = np.ones(len(ballots)) if shares is None else np.asarray(shares, dtype=float)
    weighted = [graph.node("Mul", one, each) for one, each in zip(ballots, share, strict=True)]
    total = graph.node("Div", graph.node("Sum", *weighted), np.float64(share.sum()))
    graph.labels(total, model.classes_)
    if model.voting == "soft":
        graph.probabilities(total, count)


def averaged(graph: OnnxGraph, model: AveragedClassifier) -> None:
    """Add linear scores whose probabilities are averaged over the noise."""
    _, *copies = model.parts()
    last = model.estimator if model.encoder_ is None else model.estimator[-1]
    width = int(last.n_features_in_)
    if np.shape(getattr(last, "coef_", ()))[-1:] != (width,):
        raise NotImplementedError(f"averages of {type(last).__name__}")
    rows, count = graph.input("X", DOUBLE, width), len(model.classes_)

    def scores(one: Any) -> str:
        weights = np.atleast_2d(one.coef_)
        return graph.node("Add", graph.matrix(rows, weights.T), np.ravel(one.intercept_)[None])

    if not model.in_closed_form_:
        ballots = [graph.node("Softmax", scores(one), axis=1) for one in copies]
        total = graph.node("Div", graph.node("Sum", *ballots), np.float64(len(ballots)))
        graph.labels(total, model.classes_)
        graph.probabilities(total, count)
        return
    mean = scores(last)
    apart = [graph.node("Sub", scores(one), mean) for one in copies]
    squares = [graph.node("Mul", one, one) for one in apart]
    variance = graph.node("Sum", *squares) if squares else graph.node("Sub", mean, mean)
    spread = graph.node("Add", graph.node("Mul", variance, np.square(SLOPES)[None]), np.float64(1))
    steep = graph.node("Mul", mean, SLOPES[None] / np.sqrt(2))
    steep = graph.node("Div", steep, graph.node("Sqrt", spread))
    # Runtimes know this function in single precision.
    error = graph.node("Cast", graph.node("Erf", graph.node("Cast", steep, to=1)), to=11)
    likely = graph.node("Add", graph.matrix(error, SHARES[:, None] / 2), np.float64(0.5))
    graph.labels(graph.after_zero(mean), model.classes_)
    other = graph.node("Sub", np.float64(1), likely)
    graph.probabilities(graph.node("Concat", other, likely, axis=1), count)


def _stacked(model: Any) -> tuple[Floats, Floats]:
    """Return the weights of shape (members, columns) and shifts of members with one score each."""
    maps = []
    for member in model.estimators_:
        if type(member).__name__ == "_ConstantPredictor":  # a column of a code book is constant
            shift = np.asarray(member.y_, dtype=np.float64)[:1]
            maps.append((np.zeros((1, model.n_features_in_)), shift))
        else:
            maps.append(_linear(member))
    if any(len(weights) != 1 for weights, _ in maps):
        raise NotImplementedError("members with several scores")
    return np.concatenate([one for one, _ in maps]), np.concatenate([one for _, one in maps])


def _linear(member: Any) -> tuple[Floats, Floats]:
    if {"LogisticRegression", *OWN}.isdisjoint(kinds(member)):
        raise NotImplementedError(f"members of the kind {type(member).__name__}")
    weights = np.atleast_2d(np.asarray(member.coef_, dtype=np.float64))
    return weights, np.broadcast_to(np.ravel(member.intercept_), (len(weights),)).astype(float)


def _is_logistic(member: Any) -> bool:
    return "LogisticRegression" in kinds(member)
