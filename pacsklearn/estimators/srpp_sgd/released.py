"""The model of a private run as a plain estimator, for those who only need its answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.core.model_digest import mark_released

__all__ = ["released_linear_model"]


def released_linear_model(model: Any, guarantee: Any) -> Any:
    """scikit-learn's own counterpart with the noised coefficients, marked as released.

    Parameters
    ----------
    model : SRPPSGDClassifier or SRPPSGDRegressor
        Fitted.
    guarantee : PufferfishGuarantee

    Returns
    -------
    SGDClassifier or SGDRegressor
        With the same predictions, decisions and probabilities; it holds nothing of the run but
        coefficients, intercepts and what is public.
    """
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    classes = getattr(model, "classes_", None)
    made = (SGDRegressor if classes is None else SGDClassifier)(
        loss=model.loss,
        penalty=model.penalty,
        alpha=float(model.alpha),
        l1_ratio=float(model.l1_ratio),
        fit_intercept=bool(model.fit_intercept),
        epsilon=float(model.huber_width),
    )
    made.coef_ = np.array(model.coef_, dtype=np.float64)
    made.intercept_ = np.array(model.intercept_, dtype=np.float64)
    made.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        made.feature_names_in_ = model.feature_names_in_.copy()
    if classes is not None:
        made.classes_ = classes.copy()
    return mark_released(made, guarantee)
