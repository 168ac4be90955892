"""Private answers in the place of a model, and the handle that holds what answers."""

from __future__ import annotations

import os
import uuid
import weakref
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from pacsklearn._sklearn_compat import check_features
from pacsklearn.estimators.cost_preview import CostPreview, preview
from pacsklearn.exceptions import ForeignProcessError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.secret.owner_process import OwnerProcess

_WHAT = "The secret behind these private answers"


def answers_score(kind: AnswerKind, y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return accuracy of labels, or R^2 of numbers."""
    measure = r2_score if kind.classes is None else accuracy_score
    return float(measure(y, predicted, sample_weight=sample_weight))


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

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the private answers: labels, or values."""
        return self.kind.predicted(self.predict_proba(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the private answers as they are given.

        Shares of the classes where these were asked for.
        """
        return self.responder.answer_checked(self._queries(X)).values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2, of the private answers."""
        return answers_score(self.kind, y, self.predict(X), sample_weight)

    def preview(self, X: Any) -> CostPreview:
        """Return the cost of answering ``X`` now."""
        return preview(self.responder, self._queries(X))

    def _queries(self, X: Any) -> Any:
        """Return the rows checked once, by the features of the fit and as the models take them."""
        checked = self.responder.models.checked(X)
        check_features(self._owner, X)
        return checked


@final
class SessionHandle:
    """Name of something secret that lives in this process, and in this process only.

    Copies and pickles of a handle hold the name alone. In the process that made it they lead to
    the same object, so that nobody gets a second budget; anywhere else they lead to an error.

    Parameters
    ----------
    held : object
    """

    _known: ClassVar[weakref.WeakValueDictionary[str, _Held]] = weakref.WeakValueDictionary()
    __slots__ = ("_held", "_name")

    def __init__(self, held: Any) -> None:
        # Not from a seeded generator: a name that is met again would lead to another's secret.
        self._name = f"{os.getpid()}-{uuid.uuid4().hex}"
        self._held: _Held | None = _Held(held)
        self._known[self._name] = self._held

    def get(self) -> Any:
        """Return what is held.

        Raises
        ------
        ForeignProcessError
            In another process, or after the session has gone.
        """
        if self._held is None:
            raise ForeignProcessError(_WHAT)
        self._held.home.check()
        return self._held.value

    def __copy__(self) -> SessionHandle:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SessionHandle:
        return self

    def __getstate__(self) -> str:
        return self._name

    def __setstate__(self, name: str) -> None:
        self._name = name
        self._held = self._known.get(name)

    def __repr__(self) -> str:
        return "SessionHandle(...)"


@final
class _Held:
    """What handles of one name lead to; a forked child knows it too, with its home."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.home = OwnerProcess(_WHAT)
