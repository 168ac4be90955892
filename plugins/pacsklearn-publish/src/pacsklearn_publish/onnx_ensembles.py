"""Several linear models that answer together, in ONNX and double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.estimators.averaged import SHARES, SLOPES, AveragedClassifier
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_publish.onnx_graph import DOUBLE, OnnxGraph
from pacsklearn_publish.onnx_linear import decision_graph


def rest_graph(model: Any) -> Any:
    """Return the graph of one linear model for each class against the rest."""
    if model.multilabel_:
        raise NotImplementedError("several labels a row")
    if hasattr(model, "predict_proba") and not all(map(_is_logistic, model.estimators_)):
        raise NotImplementedError(f"probabilities of {type(model.estimators_[0]).__name__}")
    return decision_graph(model, *_stacked(model.estimators_, _width(model)))


def code_book_graph(model: Any) -> Any:
    """Return the graph of the class whose code word is nearest to what all linear models say."""
    weights, shift = _stacked(model.estimators_, _width(model))
    graph = OnnxGraph()
    rows = graph.input("X", DOUBLE, _width(model))
    scores = graph.node("Add", graph.matrix(rows, weights.T), shift[None])
    words = np.asarray(model.code_book_, dtype=np.float64)
    # Squared distances, without what all classes have in common.
    nearness = graph.node("Sub", graph.matrix(scores, 2 * words.T), (words**2).sum(axis=1)[None])
    graph.labels(nearness, model.classes_)
    return graph.model("output_codes")


def several_targets_graph(model: Any) -> Any:
    """Return the graph of one linear regression a target, or of a weighted mean of several."""
    weights, shift = _stacked(model.estimators_, _width(model))
    shares = getattr(model, "_weights_not_none", None)
    if not hasattr(model, "named_estimators_"):
        mixed, moved = weights, shift
    else:
        share = np.full(len(weights), 1.0) if shares is None else np.asarray(shares, dtype=float)
        share = share / share.sum()
        mixed, moved = (share @ weights)[None], np.atleast_1d(share @ shift)
    graph = OnnxGraph()
    rows = graph.input("X", DOUBLE, _width(model))
    predictions = graph.node("Add", graph.matrix(rows, mixed.T), moved[None])
    graph.output(predictions, "variable", DOUBLE, [None, len(mixed)])
    return graph.model("several_regressions")


def vote_graph(model: Any) -> Any:
    """Return the graph of linear classifiers' mean probabilities, or most frequent label."""
    graph = OnnxGraph()
    rows = graph.input("X", DOUBLE, _width(model))
    count, ballots = len(model.classes_), []
    for member in model.estimators_:
        weights, shift = _linear(member, _width(model))
        scores = graph.node("Add", graph.matrix(rows, weights.T), shift[None])
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
    total = graph.node("Div", graph.sum(weighted), np.float64(share.sum()))
    graph.labels(total, model.classes_)
    if model.voting == "soft":
        graph.probabilities(total, count)
    return graph.model("votes")


def averaged_graph(model: AveragedClassifier) -> Any:
    """Return the graph of linear scores whose probabilities are averaged over the noise."""
    _, *copies = model.parts()
    last = model.estimator if model.encoder_ is None else model.estimator[-1]
    width = int(last.n_features_in_)
    if np.shape(getattr(last, "coef_", ()))[-1:] != (width,):
        raise NotImplementedError(f"averages of {type(last).__name__}")
    graph, count = OnnxGraph(), len(model.classes_)
    rows = graph.input("X", DOUBLE, width)

    def scores(one: Any) -> str:
        weights = np.atleast_2d(one.coef_)
        return graph.node("Add", graph.matrix(rows, weights.T), np.ravel(one.intercept_)[None])

    if not model.in_closed_form_:
        ballots = [graph.node("Softmax", scores(one), axis=1) for one in copies]
        total = graph.node("Div", graph.sum(ballots), np.float64(len(ballots)))
        graph.labels(total, model.classes_)
        graph.probabilities(total, count)
        return graph.model("averaged_votes")
    mean = scores(last)
    apart = [graph.node("Sub", scores(one), mean) for one in copies]
    squares = [graph.node("Mul", one, one) for one in apart]
    variance = graph.sum(squares) if squares else graph.node("Sub", mean, mean)
    spread = graph.node("Add", graph.node("Mul", variance, np.square(SLOPES)[None]), np.float64(1))
    steep = graph.node("Mul", mean, SLOPES[None] / np.sqrt(2))
    steep = graph.node("Div", steep, graph.node("Sqrt", spread))
    # Runtimes know this function in single precision.
    error = graph.node("Cast", graph.node("Erf", graph.node("Cast", steep, to=1)), to=11)
    likely = graph.node("Add", graph.matrix(error, SHARES[:, None] / 2), np.float64(0.5))
    graph.labels(graph.after_zero(mean), model.classes_)
    other = graph.node("Sub", np.float64(1), likely)
    graph.probabilities(graph.node("Concat", other, likely, axis=1), count)
    return graph.model("averaged_over_noise")


def _stacked(members: Any, width: int) -> tuple[Floats, Floats]:
    """Return the weights of shape (members, columns) and shifts of members with one score each."""
    maps = [_linear(member, width) for member in members]
    if any(len(weights) != 1 for weights, _ in maps):
        raise NotImplementedError("members with several scores")
    return np.concatenate([one for one, _ in maps]), np.concatenate([one for _, one in maps])


def _linear(member: Any, width: int) -> tuple[Floats, Floats]:
    from sklearn import linear_model as linear
    from sklearn.svm import LinearSVC, LinearSVR

    known = (
        linear.LogisticRegression, linear.RidgeClassifier, linear.SGDClassifier, LinearSVC,
        linear.LinearRegression, linear.Ridge, linear.ElasticNet, linear.HuberRegressor,
        linear.SGDRegressor, LinearSVR,
    )  # fmt: skip
    if type(member).__name__ == "_ConstantPredictor":  # a column of a code book that is constant
        return np.zeros((1, width)), np.asarray(member.y_, dtype=np.float64)[:1]
    if not isinstance(member, known):
        raise NotImplementedError(f"members of the kind {type(member).__name__}")
    weights = np.atleast_2d(np.asarray(member.coef_, dtype=np.float64))
    return weights, np.broadcast_to(np.ravel(member.intercept_), (len(weights),)).astype(float)


def _is_logistic(member: Any) -> bool:
    from sklearn.linear_model import LogisticRegression

    return isinstance(member, LogisticRegression)


def _width(model: Any) -> int:
    return int(model.n_features_in_)
