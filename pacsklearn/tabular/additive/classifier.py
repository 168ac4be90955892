"""Additive models that classify."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight

from pacsklearn.tabular.additive.additive_model import AdditiveModel
from pacsklearn.tabular.additive.score_classifier import ScoreClassifier
from pacsklearn.tabular.additive.solver import LogisticLoss, Loss, SoftmaxLoss


@dataclass(eq=False, repr=False)
class AdditiveClassifier(ClassifierMixin, AdditiveModel, ScoreClassifier):
    """Additive logistic regression on public bins, made to be released.

    The score of a row is an intercept plus one number for each column, looked up by the bin or the
    category that the row has there: it can be drawn, read and corrected by a person. All bins come
    from a public schema, so models of different subsets differ in these numbers only, and
    penalties let few directions of them count, which is what noise is paid for.

    Parameters
    ----------
    schema : Schema, optional
        Columns with public ranges or categories. Missing values have a level of their own. Text is
        not used.
    feature_range : (low, high), optional
        Instead of a schema, for numbers: two numbers, or two arrays with one for each feature.
    n_bins : int, default=16
        Bins of a number without ``edges`` in the schema.
    bins : {"even", "amounts"}, default="even"
        Equally wide, or narrow near zero for numbers whose public range begins there: inner bounds
        are then cubes of even shares of the range. Of amounts and counts most are small.
    pairs : iterable of (str, str), default=()
        Public pairs of columns that get a term together, beside their own.
    n_pair_bins : int, default=4
        Bins of a number in a pair.
    ridge : float, default=20.0
        Penalty in rows: on the squares of categories' levels, so that a category of ``4 * ridge``
        rows is shrunk to about half, and on the squared steps between neighbouring bins.
    smoothness : float, default=1000.0
        Penalty on the squares of how much neighbouring steps differ. Large values leave straight
        lines, whose few directions take little noise; 0 leaves each bin to itself.
    pair_ridge : float, default=60.0
        ``ridge`` of the pairs' levels.
    monotone : mapping of str to {1, -1}, optional
        Ordered columns whose term may only rise (1) or only fall (-1). Two classes only.
    class_weight : dict or "balanced", optional
        Weight of the rows of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    intercept_ : ndarray of shape (n_scores,)
        One score for two classes, otherwise one a class.
    coef_ : ndarray of shape (n_scores, n_levels)
        What each level adds; :meth:`effects` names them.
    schema_ : Schema
    scale_ : float
        Root mean square of the scores of the rows that were fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        From ``fit``: a parameter is out of range, or there is no public range.

    Notes
    -----
    The loss is minimised exactly (Newton's method, to rounding), so the model is a function of the
    rows alone; private releases fit all candidates at once. Source of the model: generalised
    additive models (Hastie and Tibshirani, 1986) with the bins of explainable boosting machines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacsklearn.tabular import AdditiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> AdditiveClassifier(feature_range=(0, 8)).fit(X, y).score(X, y) > 0.95
    True
    """

    _: KW_ONLY
    class_weight: Any = None

    def loss_of(self, y: NDArray[Any]) -> tuple[Loss, Any]:
        """Set ``classes_``; loss and weights of rows with these targets."""
        loss = loss_of_classes(self.read_classes(y), self.classes_.size)
        return loss, compute_sample_weight(self.class_weight, y)


def loss_of_classes(codes: NDArray[np.intp], n_classes: int) -> Loss:
    """Return the loss of rows with these classes."""
    return LogisticLoss(codes) if n_classes == 2 else SoftmaxLoss(codes, n_classes)
