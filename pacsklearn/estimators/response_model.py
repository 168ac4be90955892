"""What stands in for a released model when answers are released instead."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import validate_data

from pacsklearn.candidates.universe import check_queries
from pacsklearn.responses.handle import SessionHandle
from pacsklearn.responses.responder import Responder

__all__ = ["ResponseModel"]


@final
class ResponseModel:
    """Predicts with private answers; every method is charged like any other query.

    Parameters
    ----------
    responder : Responder
        Held by a handle: neither a pickle nor a copy carries the secret.
    owner : estimator
        Knows the features.
    """

    def __init__(self, responder: Responder, owner: Any) -> None:
        self._handle = SessionHandle(responder)
        self._owner = owner
        self.kind = responder.kind

    @property
    def responder(self) -> Responder:
        """What answers, in the process that fitted it."""
        found: Responder = self._handle.get()
        return found

    @property
    def methods(self) -> tuple[str, ...]:
        """What can be asked."""
        return (
            ("predict", "predict_proba") if self.kind.answers == "probabilities" else ("predict",)
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Private answers: labels, or values."""
        answers = self.responder.predict(self.queries(X))
        if self.kind.answers == "probabilities":
            assert self.kind.classes is not None
            return np.asarray(self.kind.classes[answers.argmax(axis=1)])
        return answers

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Private shares of the classes."""
        return self.responder.predict(self.queries(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2, of the private answers."""
        measure = r2_score if self.kind.answers == "values" else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def queries(self, X: Any) -> Any:
        """Rows checked against the features of the fit."""
        checked = check_queries(self._owner.estimator, X)
        validate_data(self._owner, X, reset=False, skip_check_array=True)
        return checked
