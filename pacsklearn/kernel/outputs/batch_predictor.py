"""What all candidates' models say of a query, faster than asking one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from numpy.typing import NDArray


class BatchPredictor(ABC):
    """Predictions of m fitted models of one kind at once; secret material, as the models are.

    Subclass it to make private answers of your own estimator fast. It must say exactly what the
    models' own ``predict`` says, and remember nothing of what it was asked.

    Attributes
    ----------
    name : str
        Unique among the batch predictors.
    description : str
        One line for listings.
    estimators : tuple of str or type
        Whose models it asks: qualified names such as ``"sklearn.svm.LinearSVC"``, or classes, for
        those of a notebook, a script or a function; with every subclass without a batch predictor
        of its own.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    estimators: ClassVar[tuple[str | type, ...]] = ()

    @classmethod
    @abstractmethod
    def of(cls, models: tuple[Any, ...]) -> BatchPredictor | None:
        """Return the predictor that stands for ``models``, in their order.

        None where it cannot, as for models that do not know the same classes: they are asked one
        by one then.
        """

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of every model for every row.

        Returns
        -------
        ndarray of shape (m, n) or (m, n, outputs)
            Positions in ``classes_`` for classifiers, values for regressors.
        """
