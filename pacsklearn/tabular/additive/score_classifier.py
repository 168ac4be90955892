"""What classifiers share that give each class a score, whose softmax is its probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils.multiclass import check_classification_targets

from pacsklearn.kernel.bounds.arrays import Floats


class ScoreClassifier(ABC):
    """Decisions, probabilities and classes from scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Set by ``fit``.
    """

    classes_: NDArray[Any]

    def read_classes(self, y: Any) -> NDArray[np.intp]:
        """Set ``classes_``, and return the place of each row's class among them."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 classes in y, got 1 class.")
        return np.asarray(codes)

    @abstractmethod
    def scores(self, X: Any) -> Floats:
        """Return the log-odds of the second of two classes, (n_rows, 1); else a score a class."""

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second class, (n_rows,).

        Or a score a class, (n_rows, n_classes).
        """
        scores = self.scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities; (n_rows, n_classes)."""
        scores = self.scores(X)
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        return np.column_stack([expit(-scores), expit(scores)])

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row."""
        scores = self.scores(X)
        best = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])
