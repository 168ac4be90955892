"""Transformers that are affine maps of their input."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer


@final
@dataclass(frozen=True, eq=False)
class AffineMap:
    """``x -> x * matrix + offset`` for a vector, ``x @ matrix + offset`` for a matrix.

    Parameters
    ----------
    matrix : ndarray of shape (p,), or ndarray or sparse matrix of shape (p, q)
    offset : ndarray of shape (q,)
    """

    matrix: Any
    offset: Floats

    def pull_back(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """Return the weights on this map's input of a linear model on its output.

        ``coef`` is (t, q).
        """
        moved = coef * self.matrix if self.is_diagonal else (self.matrix @ coef.T).T
        return moved, intercept + coef @ self.offset

    @property
    def is_diagonal(self) -> bool:
        """Whether each feature is moved by itself."""
        return bool(self.matrix.ndim == 1)

    @property
    def n_inputs(self) -> int:
        """Features it acts on."""
        return int(self.matrix.shape[0])

    def then(self, after: AffineMap) -> AffineMap:
        """Compose both maps into one, the other after this one."""
        if after.is_diagonal:
            offset = self.offset * after.matrix + after.offset
        else:
            offset = self.offset @ after.matrix + after.offset
        if self.is_diagonal and after.is_diagonal:
            return AffineMap(self.matrix * after.matrix, offset)
        return AffineMap(self.two_dimensional() @ after.two_dimensional(), offset)

    def two_dimensional(self) -> Any:
        """Return the matrix as one of shape (p, q)."""
        return sparse.diags(self.matrix, format="csr") if self.is_diagonal else self.matrix

    def undo(self, values: Floats) -> Floats:
        """Return what a diagonal map turns into ``values``."""
        return np.asarray((values - self.offset) / self.matrix)


class FoldingCanonicalizer(Canonicalizer):
    """Canonicalizer of a model that can take over an affine step before it.

    Attributes
    ----------
    folds : bool
        Whether it can as configured; models made of others can if those can.
    is_linear : bool
        Whether its scores are linear in what it is given.
    """

    folds = True
    is_linear: bool = True

    @abstractmethod
    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        """Return a copy of a fitted model that acts on the input of the affine step."""


def is_affine(estimator: Any) -> bool:
    """Return whether the transformer, as configured, is an affine map whatever it is fitted on."""
    if estimator is None or isinstance(estimator, str):
        return estimator in (None, "passthrough")
    if type(estimator) is Pipeline:
        steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
        return bool(steps) and all(map(is_affine, steps))
    if type(estimator) is FeatureUnion:
        parts = [part for _, part in estimator.transformer_list if part != "drop"]
        return bool(parts) and all(map(is_affine, parts))
    if type(estimator) in (PCA, IncrementalPCA, TruncatedSVD):
        return True
    return is_diagonal(estimator) or isinstance(estimator, SelectorMixin)


def is_diagonal(estimator: Any) -> bool:
    """Return whether it is an affine map of each feature by itself."""
    # Exact types: a subclass may transform differently.
    if type(estimator) in (MinMaxScaler, MaxAbsScaler):
        return not getattr(estimator, "clip", False)
    if type(estimator) is FunctionTransformer:
        return estimator.func is None
    return type(estimator) in (StandardScaler, RobustScaler)


def identity_map(p: int) -> AffineMap:
    """Return ``x -> x`` for p features."""
    return AffineMap(np.ones(p), np.zeros(p))


def affine_map(estimator: Any) -> AffineMap:
    """Return the affine map of a fitted transformer for which :func:`is_affine` holds."""
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
        return reduce(AffineMap.then, map(affine_map, steps))
    if isinstance(estimator, FeatureUnion):
        return _side_by_side(estimator)
    if isinstance(estimator, FunctionTransformer):
        return identity_map(estimator.n_features_in_)
    if isinstance(estimator, SelectorMixin):
        chosen = sparse.identity(estimator.n_features_in_, format="csr")
        chosen = chosen[:, estimator.get_support(indices=True)]
        return AffineMap(chosen, np.zeros(chosen.shape[1]))
    if isinstance(estimator, (PCA, IncrementalPCA, TruncatedSVD)):
        matrix = np.array(estimator.components_.T, dtype=np.float64)
        if getattr(estimator, "whiten", False):
            matrix = matrix / np.sqrt(estimator.explained_variance_)
        mean = getattr(estimator, "mean_", None)
        return AffineMap(matrix, np.zeros(matrix.shape[1]) if mean is None else -(mean @ matrix))
    if isinstance(estimator, MinMaxScaler):
        return AffineMap(
            np.asarray(estimator.scale_, dtype=np.float64),
            np.asarray(estimator.min_, dtype=np.float64),
        )
    scale = getattr(estimator, "scale_", None)
    if isinstance(estimator, RobustScaler):
        centre = estimator.center_ if estimator.with_centering else None
    else:
        centre = estimator.mean_ if getattr(estimator, "with_mean", False) else None
    p = estimator.n_features_in_
    factor = np.ones(p) if scale is None else 1 / np.asarray(scale, dtype=np.float64)
    return AffineMap(factor, np.zeros(p) if centre is None else -np.asarray(centre) * factor)


def _side_by_side(union: Any) -> AffineMap:
    weights = union.transformer_weights or {}
    matrices, offsets = [], []
    for name, part in union.transformer_list:
        if part != "drop":
            mapping, weight = affine_map(part), weights.get(name, 1.0)
            matrices.append(sparse.csr_matrix(mapping.two_dimensional()) * weight)
            offsets.append(mapping.offset * weight)
    return AffineMap(sparse.hstack(matrices, format="csr"), np.concatenate(offsets))
