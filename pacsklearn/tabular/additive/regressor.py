"""Additive models that predict numbers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array

from pacsklearn.tabular.additive.additive_model import AdditiveModel
from pacsklearn.tabular.additive.solver import Loss, SquaredLoss


@dataclass(eq=False, repr=False)
class AdditiveRegressor(RegressorMixin, AdditiveModel):
    """Additive least squares on public bins, made to be released.

    As :class:`AdditiveClassifier`, for numbers: the prediction is an intercept plus one number for
    the bin or category that the row has in each column.

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
        Penalty in rows: on the squares of categories' levels, so that a category of ``ridge`` rows
        is shrunk to half, and on the squared steps between neighbouring bins.
    smoothness : float, default=1000.0
        Penalty on the squares of how much neighbouring steps differ. Large values leave straight
        lines, whose few directions take little noise; 0 leaves each bin to itself.
    pair_ridge : float, default=60.0
        ``ridge`` of the pairs' levels.
    monotone : mapping of str to {1, -1}, optional
        Ordered columns whose term may only rise (1) or only fall (-1).
    value_range : (low, high), optional
        Public range that predictions are moved into.

    Attributes
    ----------
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray of shape (1, n_levels)
        What each level adds; :meth:`effects` names them.
    schema_ : Schema
    scale_ : float
        Root mean square of the predictions for the rows that were fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        From ``fit``: a parameter is out of range, or there is no public range.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pacsklearn.tabular import AdditiveRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdditiveRegressor(feature_range=(-0.2, 0.2)).fit(X, y).score(X, y) > 0.5
    True
    """

    _: KW_ONLY
    value_range: tuple[float, float] | None = None

    def loss_of(self, y: NDArray[Any]) -> tuple[Loss, Any]:
        """Return loss and weights of rows with these targets."""
        self._range()
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return SquaredLoss(y), 1.0

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets, inside ``value_range`` where it is given."""
        values = self.scores(X)[:, 0]
        ends = self._range()
        return values if ends is None else np.clip(values, *ends)

    def _range(self) -> tuple[float, float] | None:
        if self.value_range is None:
            return None
        try:
            low, high = (float(end) for end in self.value_range)
        except (TypeError, ValueError):
            low = high = np.nan
        if not low < high:
            raise ValueError(
                f"value_range must be None or two numbers (low, high), got {self.value_range!r}."
            )
        return low, high
