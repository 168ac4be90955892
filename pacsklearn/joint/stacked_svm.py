"""All candidates' support vector machines at once: kernels by matrix products."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from pacsklearn._sklearn_compat import kernel_width
from pacsklearn.joint.stacked_neighbors import distinct_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor

_KERNELS = ("rbf", "poly", "sigmoid", "linear")
_ROWS = 256  # whose kernels with one machine's support vectors fit the cache
_FEW = 8  # rows that all machines are asked about at once


@final
@dataclass(frozen=True, eq=False)
class _Machine:
    """One fitted machine.

    Its decision between two classes is a sum over the support vectors of one, a sum over those of
    the other, and an intercept: with ten classes a fifth of the numbers of sums over all vectors.

    Parameters
    ----------
    steps : tuple of transformers
        What its rows go through first.
    vectors : ndarray of shape (n_vectors, p)
        One class after the other; values, and two classes, are one group.
    edges : ndarray of int, shape (groups + 1,)
        Where the groups begin, and the last one ends.
    weights : ndarray of shape (others, n_vectors)
        Of the vectors in the decisions between their class and each of the others.
    intercept : ndarray of shape (decisions, 1)
    kernel : tuple
        Name, width, origin and degree.
    """

    steps: tuple[Any, ...]
    vectors: Floats
    edges: NDArray[np.intp]
    weights: Floats
    intercept: Floats
    kernel: tuple[str, float, float, int]

    @classmethod
    def of(cls, model: Any) -> _Machine:
        *steps, last = [part for _, part in model.steps] if hasattr(model, "steps") else [model]
        passed = tuple(step for step in steps if step not in (None, "passthrough"))
        vectors = np.ascontiguousarray(last.support_vectors_)
        whole = type(last) is SVR or len(last.classes_) == 2
        edges = np.cumsum([0, len(vectors)] if whole else [0, *last.n_support_])
        kernel = (last.kernel, kernel_width(last), last.coef0, last.degree)
        weights = np.asarray(last.dual_coef_)
        return cls(passed, vectors, edges, weights, last.intercept_[:, None], kernel)

    def sums(self, kernel: Floats) -> Floats:
        """Return the sums over each group's vectors, of shape (groups, others, n).

        ``kernel`` is what :func:`_kernel` says of the vectors.
        """
        sums = np.empty((len(self.edges) - 1, len(self.weights), kernel.shape[1]))
        for own, start, stop in zip(sums, self.edges[:-1], self.edges[1:], strict=True):
            np.matmul(self.weights[:, start:stop], kernel[start:stop], out=own)
        return sums


@final
class _Together:
    """All machines, one after the other, for so few rows that calls cost more than numbers."""

    def __init__(self, machines: tuple[_Machine, ...], places: NDArray[np.intp]) -> None:
        sizes = [len(one.vectors) for one in machines]
        firsts = np.cumsum([0, *sizes[:-1]])
        edges = [first + one.edges[:-1] for first, one in zip(firsts, machines, strict=True)]
        self._starts, self._places = np.concatenate(edges), places
        self._weights = np.concatenate([one.weights for one in machines], axis=1)
        self._intercepts = np.stack([one.intercept for one in machines])
        name, _, *others = machines[0].kernel
        self._kernel = name, np.repeat([one.kernel[1] for one in machines], sizes), *others
        self._shape = len(machines), -1, len(self._weights), 1

    def predict(self, inner: Floats, n_classes: int) -> NDArray[Any]:
        """Return the class codes of shape (m, n)."""
        codes = []
        for row in inner.T:
            kernel = _kernel(row[self._places], self._kernel)
            sums = np.add.reduceat(self._weights * kernel, self._starts, axis=1)
            codes.append(_decided(sums.T.reshape(self._shape), self._intercepts, n_classes))
        return np.concatenate(codes, axis=1, dtype=np.int32)


@final
@dataclass(frozen=True, eq=False)
class _Group:
    """Machines whose rows go through the same steps, and which share most support vectors.

    Parameters
    ----------
    machines : tuple
    vectors : ndarray of shape (n_vectors, p)
        Of all of them, each once: products with rows are taken once.
    places : list of ndarray of int
        Where each machine's own stand among them.
    """

    machines: tuple[_Machine, ...]
    vectors: Floats
    places: list[NDArray[np.intp]]

    @classmethod
    def of(cls, *machines: _Machine) -> _Group:
        return cls(machines, *distinct_rows(machine.vectors for machine in machines))

    @cached_property
    def _together(self) -> _Together | None:
        # Sums over a group end where the next one begins: none may be empty.
        whole = all(np.diff(machine.edges).all() for machine in self.machines)
        return _Together(self.machines, np.concatenate(self.places)) if whole else None

    def predict(self, X: Any, n_classes: int) -> NDArray[Any]:
        """Return the class codes or values of shape (m, n)."""
        for step in self.machines[0].steps:
            X = step.transform(X)
        rows = np.asarray(X, dtype=np.float64)
        # A vote needs no last digit, which sums in another order have otherwise.
        if n_classes and len(rows) <= _FEW and self._together is not None:
            return self._together.predict(self._inner(rows), n_classes)
        predictions = np.empty((len(self.machines), len(rows)), np.int32 if n_classes else float)
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            inner = self._inner(rows[part])
            # Instead of fresh memory for each machine.
            work = np.empty((max(map(len, self.places)), inner.shape[1]))
            for own, machine, place in zip(predictions, self.machines, self.places, strict=True):
                taken = inner.take(place, axis=0, out=work[: len(place)], mode="clip")
                sums = machine.sums(_kernel(taken, machine.kernel))
                own[part] = _decided(sums, machine.intercept, n_classes)
        return predictions

    def _inner(self, rows: Floats) -> Floats:
        """Return the products of vectors and rows; for "rbf" minus their squared distances."""
        products = self.vectors @ rows.T
        if self.machines[0].kernel[0] == "rbf":
            products *= 2.0
            products -= np.einsum("np,np->n", self.vectors, self.vectors)[:, None]
            products -= np.einsum("np,np->n", rows, rows)
        return products


def _kernel(inner: Floats, kernel: Any) -> Floats:
    """Return the kernel from products or distances, which it may overwrite."""
    name, width, origin, degree = kernel
    if name == "linear":
        return inner
    inner *= width
    if name == "rbf":
        return np.exp(inner, out=inner)
    inner += origin
    return np.tanh(inner) if name == "sigmoid" else _power(inner, degree)


def _decided(sums: Floats, intercept: Floats, n_classes: int) -> NDArray[Any]:
    """Return codes, or values, of shape (..., n) from sums of shape (..., groups, others, n)."""
    if n_classes <= 2:
        decisions = sums[..., 0, 0, :] + intercept[..., 0, :]
        return decisions > 0 if n_classes else decisions
    by_class = sums.reshape(*sums.shape[:-3], -1, sums.shape[-1])
    own, other, votes = _pairs(n_classes)
    decisions = by_class.take(own, axis=-2)
    decisions += by_class.take(other, axis=-2)
    # One class against one: the first of those with most votes.
    won = votes @ (decisions > -intercept).astype(np.float32)
    won += np.arange(n_classes, dtype=np.float32)[:, None]
    return won.argmax(axis=-2)


@cache
def _pairs(n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Return where each decision's two sums stand, and the votes that one for the first moves.

    Where all are for the second one, a class has a vote from each class before it.
    """
    first, second = np.triu_indices(n_classes, 1)
    votes = np.zeros((n_classes, len(first)), dtype=np.float32)
    votes[first, np.arange(len(first))], votes[second, np.arange(len(first))] = 1.0, -1.0
    return first * (n_classes - 1) + second - 1, second * (n_classes - 1) + first, votes


@final
@dataclass(frozen=True, eq=False)
class StackedSVM(BatchPredictor):
    """Predictions of m support vector machines, also behind steps of a pipeline.

    Parameters
    ----------
    groups : tuple
        Machines without steps are one; others have steps of their own.
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
    groups: tuple[_Group, ...] = field(repr=False)
    n_classes: int

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedSVM | None:
        last = [model.steps[-1][1] if type(model) is Pipeline else model for model in models]
        if any(type(one) not in (SVC, SVR) for one in last):
            return None
        if any(one.kernel not in _KERNELS or sparse.issparse(one.support_vectors_) for one in last):
            return None
        classes = np.array([]) if type(last[0]) is SVR else last[0].classes_
        if classes.size and any(
            one.break_ties or not np.array_equal(one.classes_, classes) for one in last
        ):
            return None
        machines = [_Machine.of(model) for model in models]
        if any(machine.steps for machine in machines):
            return cls(tuple(map(_Group.of, machines)), classes.size)
        return cls((_Group.of(*machines),), classes.size)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class codes or values of shape (m, n)."""
        return np.concatenate([group.predict(X, self.n_classes) for group in self.groups])


def _power(base: Floats, degree: int) -> Floats:
    """Return the whole power by products, many times as fast as one of any exponent."""
    power = np.ones_like(base)
    for _ in range(degree):
        power *= base
    return power
