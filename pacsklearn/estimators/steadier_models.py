"""Models that lose little to noise, behind the same preprocessing."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def steadier_models(estimator: Any) -> dict[str, Any]:
    """Shrunken linear models in place of an estimator's last step, by name.

    Parameters
    ----------
    estimator : estimator
        A pipeline keeps its other steps; anything else gets a scaler before the model.
    """
    if is_classifier(estimator):
        models = {
            "LogisticRegression(C=0.001)": LogisticRegression(C=1e-3),
            "LogisticRegression(C=1e-05)": LogisticRegression(C=1e-5),
            "LinearDiscriminantAnalysis(shrinkage=0.9)": LinearDiscriminantAnalysis(
                solver="lsqr", shrinkage=0.9
            ),
        }
    else:
        models = {f"Ridge(alpha={alpha:g})": Ridge(alpha=alpha) for alpha in (1e2, 1e4)}
    return {name: _behind(estimator, model) for name, model in models.items()}


def _behind(estimator: Any, model: Any) -> Any:
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps[:-1]]
        return make_pipeline(*(clone(step) for step in steps), model)
    return make_pipeline(StandardScaler(), model)
