"""What stands in for a released model when answers are released instead."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import check_features
from pacsklearn.responses.cost_preview import CostPreview
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
        return self._handle.get()

    @property
    def methods(self) -> tuple[str, ...]:
        """What can be asked."""
        return self.kind.methods

    def predict(self, X: Any) -> NDArray[Any]:
        """Private answers: labels, or values."""
        return self.kind.predicted(self._answers(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Private shares of the classes."""
        return self._answers(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2, of the private answers."""
        return self.kind.score(y, self.predict(X), sample_weight)

    def preview(self, X: Any) -> CostPreview:
        """Cost of answering ``X`` now."""
        return self.responder.preview(self._queries(X))

    def _answers(self, X: Any) -> NDArray[Any]:
        return self.responder.answer_checked(self._queries(X)).values

    def _queries(self, X: Any) -> Any:
        """Rows checked once, by the features of the fit and as the models take them."""
        checked = self.responder.checked(X)
        check_features(self._owner, X)
        return checked
