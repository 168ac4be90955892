"""Transformers that are affine maps of their input."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.information.arrays import Floats

__all__ = ["AffineMap", "FoldingCanonicalizer", "affine_map", "is_affine"]


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
        """Weights on this map's input of a linear model on its output; ``coef`` is (t, q)."""
        moved = coef * self.matrix if self.matrix.ndim == 1 else (self.matrix @ coef.T).T
        return moved, intercept + coef @ self.offset


class FoldingCanonicalizer(Canonicalizer):
    """Canonicalizer of a linear model, which can take over an affine step before it."""

    @abstractmethod
    def weights(self, estimator: Any) -> tuple[Floats, Floats]:
        """Coefficients of shape (outputs, p) and intercepts of shape (outputs,)."""

    @abstractmethod
    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        """Copy of a fitted model that acts on the input of the affine step."""


def is_affine(estimator: Any) -> bool:
    """Whether the transformer, as configured, is an affine map whatever it is fitted on."""
    if estimator is None or isinstance(estimator, str):
        return estimator in (None, "passthrough")
    # Exact types: a subclass may transform differently.
    if type(estimator) in (MinMaxScaler, MaxAbsScaler):
        return not getattr(estimator, "clip", False)
    if type(estimator) in (StandardScaler, RobustScaler, PCA, IncrementalPCA, TruncatedSVD):
        return True
    return isinstance(estimator, SelectorMixin)


def affine_map(estimator: Any) -> AffineMap:
    """Affine map of a fitted transformer for which :func:`is_affine` holds."""
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
