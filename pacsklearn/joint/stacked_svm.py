"""All candidates' support vector machines at once: kernels by matrix products."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from pacsklearn._sklearn_compat import kernel_width
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor

_KERNELS = ("rbf", "poly", "sigmoid", "linear")
_ROWS = 256  # whose kernels with one machine's support vectors fit the cache
_FEW = 8  # rows that all machines are asked about at once
_BINARY = 2


@final
@dataclass(frozen=True, eq=False)
class _Machine:
    """One fitted machine; decisions are ``weights @ kernel(vectors, rows) + intercept``.

    Parameters
    ----------
    steps : tuple of transformers
        What its rows go through first.
    vectors : ndarray of shape (n_vectors, p)
    squares : ndarray of shape (n_vectors, 1)
        Of the vectors' lengths.
    weights : ndarray of shape (decisions, n_vectors)
    intercept : ndarray of shape (decisions, 1)
    kernel : tuple
        Name, width, origin and degree.
    """

    steps: tuple[Any, ...]
    vectors: Floats
    squares: Floats
    weights: Floats
    intercept: Floats
    kernel: tuple[str, float, float, int]

    @classmethod
    def of(cls, model: Any) -> _Machine:
        *steps, last = [part for _, part in model.steps] if hasattr(model, "steps") else [model]
        vectors = np.ascontiguousarray(last.support_vectors_)
        kernel = (last.kernel, kernel_width(last), last.coef0, last.degree)
        passed = tuple(step for step in steps if step not in (None, "passthrough"))
        squares = np.einsum("np,np->n", vectors, vectors)[:, None]
        return cls(passed, vectors, squares, _weights(last), last.intercept_[:, None], kernel)

    def decide(self, X: Any) -> Floats:
        """Return the decisions of shape (decisions, n)."""
        for step in self.steps:
            X = step.transform(X)
        rows = np.asarray(X, dtype=np.float64)
        decisions = np.empty((len(self.weights), len(rows)))
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            kernel = _kernel(self.vectors @ part.T, self.squares, part, self.kernel)
            decisions[:, start : start + _ROWS] = self.weights @ kernel
        decisions += self.intercept
        return decisions


@final
class _Together:
    """All machines, one after the other, for so few rows that calls cost more than numbers."""

    def __init__(self, machines: tuple[_Machine, ...]) -> None:
        sizes = [len(one.vectors) for one in machines]
        self._starts = np.cumsum([0, *sizes[:-1]])
        # Candidates share most of their support vectors: products are taken once for each row.
        every = np.concatenate([one.vectors for one in machines])
        self._vectors, self._place = np.unique(every, axis=0, return_inverse=True)
        self._squares = np.concatenate([one.squares for one in machines])
        self._weights = np.concatenate([one.weights for one in machines], axis=1)
        self._intercepts = np.stack([one.intercept for one in machines])
        self._widths = np.repeat([one.kernel[1] for one in machines], sizes)[:, None]
        self._kernel = machines[0].kernel

    def decide(self, rows: Floats) -> Floats:
        """Return the decisions of shape (m, decisions, n)."""
        name, _, origin, degree = self._kernel
        products = (self._vectors @ rows.T)[self._place.ravel()]
        kernel = _kernel(products, self._squares, rows, (name, self._widths, origin, degree))
        # Each machine's sum ends where the next one's vectors begin.
        parts = [np.add.reduceat(row[:, None] * kernel, self._starts) for row in self._weights]
        return np.stack(parts, axis=1) + self._intercepts


def _kernel(products: Floats, squares: Floats, rows: Floats, kernel: Any) -> Floats:
    """Return kernel of support vectors with rows, from their products, which it may overwrite."""
    name, width, origin, degree = kernel
    if name == "linear":
        return products
    if name == "rbf":
        products *= 2.0
        products -= squares
        products -= np.einsum("np,np->n", rows, rows)
        products *= width
        return np.exp(products, out=products)
    products *= width
    products += origin
    return np.tanh(products) if name == "sigmoid" else _power(products, degree)


@final
@dataclass(frozen=True, eq=False)
class StackedSVM(BatchPredictor):
    """Predictions of m support vector machines, also behind steps of a pipeline.

    Parameters
    ----------
    machines : tuple
    n_classes : int
        Zero for regressors.
    """

    name = "stacked_svm"
    description = "kernels of all candidates' support vectors by matrix products"
    estimators = (
        "sklearn.svm.SVC",
        "sklearn.svm.SVR",
        "sklearn.pipeline.Pipeline",
    )
    machines: tuple[_Machine, ...] = field(repr=False)
    n_classes: int

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedSVM | None:
        last = [model.steps[-1][1] if type(model) is Pipeline else model for model in models]
        if any(type(one) not in (SVC, SVR) for one in last):
            return None
        if any(one.kernel not in _KERNELS or sparse.issparse(one.support_vectors_) for one in last):
            return None
        if type(last[0]) is SVR:
            return cls(tuple(map(_Machine.of, models)), 0)
        classes = last[0].classes_
        if any(one.break_ties or not np.array_equal(one.classes_, classes) for one in last):
            return None
        return cls(tuple(map(_Machine.of, models)), len(classes))

    @cached_property
    def _together(self) -> _Together:
        return _Together(self.machines)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class codes or values of shape (m, n)."""
        # A vote needs no last digit, which sums in another order have otherwise.
        few = self.n_classes and X.shape[0] <= _FEW
        if few and all(len(one.vectors) and not one.steps for one in self.machines):
            decisions = self._together.decide(np.asarray(X, dtype=np.float64))
        else:
            decisions = np.stack([machine.decide(X) for machine in self.machines])
        if not self.n_classes:
            return decisions[:, 0]
        if self.n_classes == _BINARY:
            return (decisions[:, 0] > 0).astype(np.int32)
        # One class against one: the first of those with most votes.
        votes = np.zeros((len(decisions), self.n_classes, decisions.shape[2]), dtype=np.int32)
        for pair, (first, second) in enumerate(combinations(range(self.n_classes), 2)):
            won = decisions[:, pair] > 0
            votes[:, first] += won
            votes[:, second] += ~won
        return votes.argmax(axis=1).astype(np.int32)


def _power(base: Floats, degree: int) -> Floats:
    """Return the whole power by products, many times as fast as one of any exponent."""
    power = np.ones_like(base)
    for _ in range(degree):
        power *= base
    return power


def _weights(model: Any) -> Floats:
    """Return the coefficients of the support vectors in each decision."""
    dual = np.asarray(model.dual_coef_)
    if type(model) is SVR or len(model.classes_) == _BINARY:
        return dual
    edges = np.concatenate([[0], np.cumsum(model.n_support_)])
    pairs = list(combinations(range(len(model.classes_)), 2))
    weights = np.zeros((len(pairs), dual.shape[1]))
    for row, (first, second) in zip(weights, pairs, strict=True):
        one, other = slice(*edges[first : first + 2]), slice(*edges[second : second + 2])
        row[one], row[other] = dual[second - 1, one], dual[first, other]
    return weights
