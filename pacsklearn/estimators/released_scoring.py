"""What a released model can be scored with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from pacsklearn.core.canonicalizer import Canonicalizer


def released_scorer(
    scoring: Any, estimator: Any, canonicalizer: Canonicalizer, y: Any
) -> Callable[[Any, Any, Any], Any]:
    """Callable ``(model, X_test, y_test)`` for a user's ``scoring``.

    Raises
    ------
    ValueError
        When a released model does not offer what ``scoring`` needs.
    """
    name, methods = type(estimator).__name__, canonicalizer.methods
    offers = (
        f"a released {name} offers {', '.join(methods)}. Give "
        "scoring=callable(model, X_test, y_test)."
    )
    if scoring is None:
        if "predict" not in methods or not hasattr(estimator, "score"):
            raise ValueError(f"scoring=None needs a model that predicts and scores; {offers}")
        return _own_score
    if isinstance(scoring, str):
        if not {"predict", "predict_proba", "decision_function"}.intersection(methods):
            raise ValueError(f"scoring={scoring!r} needs a model that predicts; {offers}")
        if y is None:
            raise ValueError(f"scoring={scoring!r} compares with true values; pass y.")
    elif not callable(scoring):
        raise ValueError(
            "scoring must be None, the name of one scorer or a callable(model, X_test, y_test), "
            f"got {scoring!r}."
        )
    return check_scoring(estimator, scoring=scoring)


def scoring_name(scoring: Any, model: Any) -> str:
    """Name of a score for tables and axes; ``model`` is a fitted one."""
    if isinstance(scoring, str):
        return scoring
    if scoring is not None:
        return str(getattr(scoring, "__name__", type(scoring).__name__))
    while hasattr(model, "steps") or hasattr(model, "best_estimator_"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.best_estimator_
    method = getattr(type(model), "score", None)
    return {ClassifierMixin.score: "accuracy", RegressorMixin.score: "R²"}.get(method, "score")


def _own_score(model: Any, X: Any, y: Any) -> Any:
    return model.score(X) if y is None else model.score(X, y)
