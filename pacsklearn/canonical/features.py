"""What every fitted estimator knows about its features, and second moments of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn._sklearn_compat import set_classes
from pacsklearn.kernel.outputs.canonicalizer import Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric

_BLOCK = 1024  # rows whose decisions by all candidates fit the cache
# Beyond this many features a full second moment costs more than it gains.
_MOST_FEATURES = 1024


def feature_facts(estimator: Any) -> dict[str, Any]:
    """Return public facts about the input: how many features, and their names if they have any."""
    facts: dict[str, Any] = {"n_features_in_": int(estimator.n_features_in_)}
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        facts["feature_names_in_"] = np.array(names)
    return facts


def encoding_of(estimator: Any, arrays: Mapping[str, Any], **facts: Any) -> Encoding:
    """Return the vector of all arrays, with public facts, those about the input among them."""
    layout = Layout.of(arrays, **facts, **feature_facts(estimator))
    return Encoding(layout.pack(arrays), layout)


def set_facts(estimator: Any, layout: Layout) -> None:
    """Give a decoded estimator the facts of :func:`feature_facts`, and its classes if it has any.

    Those of several targets, a tuple, are left to the caller.
    """
    facts = dict(layout.facts)
    for name in ("n_features_in_", "feature_names_in_"):
        if name in facts:
            setattr(estimator, name, facts[name])
    classes = facts.get("classes_")
    if classes is not None and not isinstance(classes, tuple):
        set_classes(estimator, classes, multilabel=bool(facts.get("multilabel")))


def numeric_rows(X: Any) -> Any:
    """Return the rows as a float array, or as the sparse matrix they are."""
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def member_mean_squares(
    X: Any, space: SecretSpace, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean square of each candidate's own decisions over its own rows; shape (m,).

    ``weights`` has shape (m, outputs, p + 1), intercepts last. Not finite for a candidate where
    some decision, on its rows or on others, is not.
    """
    rows, (m, outputs, _) = numeric_rows(X), weights.shape
    coef, intercept = weights[:, :, :-1].reshape(m * outputs, -1).T, weights[:, :, -1].ravel()
    total, count = np.zeros(m), np.zeros(m)
    for start in range(0, rows.shape[0], _BLOCK):
        units = np.arange(start, min(start + _BLOCK, rows.shape[0]))
        if space.unit_of_row is not None:
            units = space.unit_of_row[units]
        members = space.membership(units)
        decision = np.asarray(rows[start : start + _BLOCK] @ coef) + intercept
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.square(decision).reshape(len(units), m, outputs).sum(axis=2)
            total += np.einsum("ni,ni->i", members, squares)
        count += members.sum(axis=0)
    return total / (count * outputs)


def second_moment(X: Any) -> Metric:
    """Return the mean of ``(x, 1)(x, 1)'`` over the rows.

    The expected squared change of a linear output.
    """
    rows = numeric_rows(X)
    n, p = rows.shape
    if p >= _MOST_FEATURES:
        return DiagonalMetric(np.append(_size(rows) ** 2, 1.0))
    product = rows.T @ rows
    product = (product.toarray() if sparse.issparse(product) else product) / n
    # In units of each feature's own size, so that metres do not hide nanometres.
    size = np.sqrt(np.diagonal(product))
    inverse = 1 / np.where(size > 0, size, 1.0)
    moment = np.empty((p + 1, p + 1))
    moment[:p, :p] = product * inverse[:, None] * inverse
    moment[:p, p] = moment[p, :p] = _mean(rows) * inverse
    moment[p, p] = 1.0
    return MatrixMetric(moment, np.append(size, 1.0))


def _size(rows: Any) -> NDArray[np.float64]:
    return np.sqrt(_mean(rows.multiply(rows) if sparse.issparse(rows) else rows**2))


def _mean(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
