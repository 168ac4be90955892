"""Methods of a private estimator that hand on to what it released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from pacsklearn._sklearn_compat import output_config, set_output_config

__all__ = ["ReleasedMethods"]

_ABOUT_A_MODEL = ("released_estimator_", "transform", "inverse_transform", "score_samples")


def _can(method: str) -> Any:
    """Available when what was released has the method, or will have it once fitted."""
    return available_if(lambda self: self._offers(method))


def _can_score(self: ReleasedMethods) -> bool:
    return hasattr(self, "predict") and hasattr(self.estimator, "score")


class ReleasedMethods(ABC):
    """Prediction, transformation and scoring by the released model and by nothing else.

    Attributes
    ----------
    estimator : estimator
        The wrapped one.
    """

    estimator: Any

    @abstractmethod
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Release something private."""

    @abstractmethod
    def _offers(self, method: str) -> bool:
        """Whether the method can be asked of what was, or will be, released."""

    @abstractmethod
    def _released(self) -> Any:
        """Return what was released; NotFittedError when nothing was."""

    def __getattr__(self, name: str) -> Any:
        """Say why something is not there; called when it is nowhere else."""
        plain = f"This {type(self).__name__!r} has no attribute {name!r}"
        if name.startswith("__") or "_answering" not in vars(self):
            raise AttributeError(plain)
        if name in ("predict_proba", "predict_log_proba", "decision_function"):
            raise AttributeError(
                f"{plain}: labels are answered, one by one. Class probabilities are with "
                "PACPrivate(..., answers='probabilities')."
            )
        if name in _ABOUT_A_MODEL or name.endswith("_"):
            raise AttributeError(
                f"{plain}: private answers are released and no model, since no canonicalizer "
                "supports the estimator or release='responses' was given. Ask predict, publish a "
                "student of the answers (distill), or wrap an estimator whose parameters can be "
                "released (release='parameters' says why this one's cannot)."
            )
        raise AttributeError(plain)

    @_can("predict")
    def predict(self, X: Any) -> Any:
        """Predictions of the released model."""
        return self._released().predict(X)

    @_can("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the released model."""
        return self._released().predict_proba(X)

    @_can("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities of the released model."""
        return self._released().predict_log_proba(X)

    @_can("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Decision function of the released model."""
        return self._released().decision_function(X)

    @_can("transform")
    def transform(self, X: Any) -> Any:
        """Rows transformed by the released model."""
        return self._released().transform(X)

    @_can("inverse_transform")
    def inverse_transform(self, X: Any) -> Any:
        """Rows transformed back by the released model."""
        return self._released().inverse_transform(X)

    @_can("transform")
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then transform ``X`` by the *released* model."""
        return self.fit(X, y, **fit_params).transform(X)

    @available_if(lambda self: hasattr(self.estimator, "fit_predict") and hasattr(self, "predict"))
    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then predict ``X`` by the *released* model."""
        return self.fit(X, y, **fit_params).predict(X)

    @available_if(_can_score)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score of the released model, which costs nothing, or of answers, charged as any other."""
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._released().score(X, y, **params))

    @_can("transform")
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the released transformer's outputs."""
        return self._released().get_feature_names_out(input_features)

    @_can("transform")
    def set_output(self, *, transform: Any = None) -> Self:
        """Container of ``transform``'s output: ``"default"``, ``"pandas"`` or ``"polars"``."""
        if transform is not None:
            set_output_config(self, transform)
            if hasattr(self, "released_estimator_"):
                self._pass_output_config(self.released_estimator_)
        return self

    def _pass_output_config(self, released: Any) -> None:
        config = output_config(self)
        if config and hasattr(released, "set_output"):
            released.set_output(**config)
