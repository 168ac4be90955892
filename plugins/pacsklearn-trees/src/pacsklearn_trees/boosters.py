"""The boosters of all candidates, asked with one DMatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.plugins import BatchPredictor

if TYPE_CHECKING:  # imported when there are models of it
    from xgboost import Booster, DMatrix, XGBClassifier, XGBModel

__all__ = ["Boosters"]


class Boosters(BatchPredictor):
    """Predictions of m fitted XGBClassifier or XGBRegressor, the rows converted once.

    Parameters
    ----------
    models : tuple of fitted estimators
        Of one class and with the same parameters; see :meth:`of`.
    """

    name = "xgboost"
    description = "all candidates' boosters on one DMatrix"
    estimators = ("xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor")

    def __init__(self, models: tuple[XGBModel, ...]) -> None:
        from xgboost import XGBClassifier

        first = models[0]
        self._boosters: list[Booster] = [model.get_booster() for model in models]
        self._rounds = [_rounds(model) for model in models]
        self._conversion = {
            "missing": first.missing,
            "nthread": first.n_jobs,
            "feature_types": first.feature_types,
            "enable_categorical": first.enable_categorical,
        }
        classifies = isinstance(first, XGBClassifier)
        self._n_classes: int | None = first.n_classes_ if classifies else None

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> Boosters | None:
        """Return the boosters of ``models``.

        None for subclasses and objectives that predict otherwise.
        """
        from xgboost import XGBClassifier, XGBModel

        first = models[0]
        own = XGBClassifier if isinstance(first, XGBClassifier) else XGBModel
        if type(first).predict is not own.predict:
            return None
        if own is XGBClassifier and not _one_label_each(models):
            return None
        return cls(models)

    def predict(self, X: Any) -> NDArray[Any]:
        from xgboost import DMatrix

        rows = DMatrix(X, **self._conversion)
        return np.stack(
            [
                self._predictions(booster, rows, rounds)
                for booster, rounds in zip(self._boosters, self._rounds, strict=True)
            ]
        )

    def _predictions(
        self, booster: Booster, rows: DMatrix, rounds: tuple[int, int]
    ) -> NDArray[Any]:
        # As the models' own predict, arrays without names are taken by position.
        predictions = booster.predict(
            rows, iteration_range=rounds, validate_features=rows.feature_names is not None
        )
        if self._n_classes is None:
            return predictions.reshape(rows.num_row(), -1)
        if self._n_classes == 2:
            return (predictions > 0.5).astype(np.int32)
        # multi:softmax has decided already.
        return (predictions.argmax(axis=1) if predictions.ndim == 2 else predictions).astype(
            np.int32
        )


def _rounds(model: XGBModel) -> tuple[int, int]:
    """Return the rounds that count: all of them, or those until early stopping's best."""
    if model.booster == "gblinear":
        return (0, 0)
    try:
        return (0, model.best_iteration + 1)
    except AttributeError:
        return (0, 0)


def _one_label_each(models: tuple[XGBClassifier, ...]) -> bool:
    """Return whether every model knows the same classes and gives a row one of them."""
    n_classes = models[0].n_classes_
    prefix = "binary:" if n_classes == 2 else "multi:"
    return all(
        model.n_classes_ == n_classes and str(model.objective).startswith(prefix)
        for model in models
    )
