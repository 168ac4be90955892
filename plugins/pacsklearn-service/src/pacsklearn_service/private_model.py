"""A model on a private prediction service, as an estimator of scikit-learn."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn_service.channel import ApiKey, Channel, understood
from pacsklearn_service.errors import PriceError, ServiceBudgetError, ServiceError
from pacsklearn_service.statement import checked_guarantee, statement_key
from pacsklearn_service.tensors import WIRE, columns_of, written

_BATCH: Final = 1000
"""Rows of one request: several requests are charged, retried and answered one by one."""


def _offers_probabilities(model: PrivateModel) -> bool:
    if model._connected().answers_ != "probabilities":
        raise AttributeError("The model on the service answers with labels or values only.")
    return True


class PrivateModel(BaseEstimator):
    """A model that a private prediction service answers for.

    Nothing is learned here: ``fit`` looks up the model and checks that the rows are of its kind,
    so that the estimator can stand in a pipeline, a search or ``cross_val_score``. Every
    answer to a row that is contested and new to you is paid out of your quota.

    Parameters
    ----------
    url : str
        Address of the service for callers. It begins with ``https``, except for a loopback
        address; certificates are always checked.
    key : str, optional
        API key or token. Without one, the environment's ``PACSKLEARN_SERVICE_KEY`` is read when
        the service is asked, and a pickle of the estimator holds no key. No repr shows it.
    model : str, optional
        Name of the model; needed where the service offers several.
    max_charge : float, optional
        The most one call of ``predict`` or ``predict_proba`` may cost, in nats: it is refused,
        and nothing charged, when its rows could cost more.
    timeout : float, default=60.0
        Seconds of silence after which an attempt ends.
    retries : int, default=5
        Further attempts where the service cannot be reached, is not ready or asks to wait. They
        carry the same idempotency key, so an answer is charged once.
    ca_file : str, optional
        File of the certificates that sign the service's own; the system's by default.
    public_key : str or path-like, optional
        The key the service signs its statements with, as the curator gave it to you: base64, or a
        PEM file. ``guarantee_`` is refused when another key signed it (needs ``cryptography``).

    Attributes
    ----------
    model_ : str
        Name of the model.
    answers_ : {"labels", "probabilities", "values"}
    classes_ : ndarray
        Labels of a classifier; a model of values has none.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Columns of the model on the service.
    step_budget_ : float
        Nats that a contested row costs.

    Notes
    -----
    Data that is sent is seen by the service. ``score`` and cross-validation ask, and pay, like any
    other caller; labels ``y`` never leave this process.

    Examples
    --------
    >>> from pacsklearn_service import PrivateModel
    >>> PrivateModel("https://models.example.org:8470", "pac_name_secret", model="risk")
    PrivateModel(key=ApiKey(...), model='risk', url='https://models.example.org:8470')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [str, None],
        "max_charge": [Interval(Real, 0, None, closed="left"), None],
        "timeout": [Interval(Real, 0, None, closed="neither")],
        "retries": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        url: str,
        key: Any = None,
        *,
        model: str | None = None,
        max_charge: float | None = None,
        timeout: float = 60.0,
        retries: int = 5,
        ca_file: str | None = None,
        public_key: str | os.PathLike[str] | None = None,
    ) -> None:
        self.url = url
        self.key = key
        self.model = model
        self.max_charge = max_charge
        self.timeout = timeout
        self.retries = retries
        self.ca_file = ca_file
        self.public_key = public_key

    @property
    def key(self) -> ApiKey | None:
        """The key, which shows itself to nobody."""
        return self._key

    @key.setter
    def key(self, key: ApiKey | str | None) -> None:
        # Wrapped here, because pipelines, diagrams and set_params all go by this name.
        self._key = ApiKey(key) if isinstance(key, str) else key

    def fit(self, X: Any = None, y: Any = None) -> PrivateModel:
        """Look up the model on the service, and check that it takes such rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), optional
            Not sent anywhere.
        y : ignored
            Not sent anywhere.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where the model reads other columns.
        ServiceError
            Where there is no such model, or the service refuses the key.
        """
        channel = self._channel()
        name = self.model
        if name is None:
            listed = channel.get("v1", "models")
            with understood():
                names = [str(each) for each in listed["models"]]
            if len(names) != 1:
                own = (
                    ", ".join(names) or "none that this key has a quota for; the curator gives one"
                )
                raise ValueError(f"model must name one of the models of the service: {own}")
            name = names[0]
        facts = channel.get("v2", "models", name)
        with understood():
            kinds = {str(each["name"]): str(each["kind"]) for each in facts["columns"]}
            if not WIRE.keys() >= {*kinds.values()}:
                raise ValueError
            answers, step_budget = str(facts["answers"]), float(facts["step_budget"])
            classes = None if facts["classes"] is None else np.asarray(facts["classes"])
        if X is not None:
            columns_of(X, kinds)
        self.model_: str = name
        self.answers_: str = answers
        self.step_budget_ = step_budget
        self._kinds: dict[str, str] = kinds
        self.n_features_in_ = len(kinds)
        self.feature_names_in_ = np.asarray(list(kinds), dtype=object)
        self._is_classifier = classes is not None
        if classes is not None:
            self.classes_ = classes
        elif hasattr(self, "classes_"):
            del self.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the private answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        BudgetExhaustedError
            Where your quota, or the budget of the data set, does not cover the rows; what came
            before the refused batch of 1,000 rows is stored, and free the next time.
        PriceError
            Where the rows could cost more than ``max_charge``.
        """
        return self._answers(X, "predict")

    @available_if(_offers_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return private probabilities, where the model offers them; one price with ``predict``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answers(X, "predict_proba")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the answers to ``X``: accuracy of a classifier, R^2 of a regressor; asks and pays.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        metric = accuracy_score if self._connected()._is_classifier else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def preview(self, X: Any) -> float:
        """Return most that asking these rows can cost you, in nats; asks nothing and pays nothing.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        """
        replies = [self._post("v1", part, "preview", {}) for part in self._parts(X)]
        with understood():
            return sum(float(each["worst_case"]) for each in replies)

    @property
    def guarantee_(self) -> PACGuarantee:
        """What the service promises about the model, at its ceiling.

        Raises
        ------
        ServiceError
            When the statement is about another model, or was not signed by ``public_key``. Without
            ``public_key`` nobody's signature is checked.
        """
        key = None if self.public_key is None else statement_key(self.public_key)
        return checked_guarantee(
            self._channel().get("v1", "models", self._connected().model_, "statement"),
            model=self.model_,
            step_budget=self.step_budget_,
            key=key,
        )

    @property
    def remaining_budget_(self) -> float:
        """What is left of your quota for the model's data set, in nats."""
        return self._budget()["remaining"]

    def _answers(self, X: Any, output: str) -> NDArray[Any]:
        parts = self._parts(X)
        allowed = None if self.max_charge is None else float(self.max_charge)
        if allowed is not None and len(parts) > 1:
            # Each part by itself may fit: the whole is refused before the first of them is paid.
            worst = self.preview(X)
            if worst > allowed:
                raise PriceError(
                    "price-too-high", 0,
                    "The rows that you have not asked before could cost more than max_charge; "
                    "nothing was charged. Ask fewer rows, or allow more",
                    {"worst_case": worst},
                )  # fmt: skip
        answers = []
        for part in parts:
            parameters = {} if allowed is None else {"max_charge": allowed}
            n_rows = len(next(iter(part.values())))
            try:
                reply = self._post("v2", part, "infer", parameters)
            except ServiceBudgetError as error:
                # With the caller's own figures.
                facts = error.facts | self._budget() | {"asked": n_rows * self.step_budget_}
                raise ServiceBudgetError(error.kind, error.status, error.detail, facts) from None
            with understood():
                if allowed is not None:
                    allowed = max(0.0, allowed - float(reply["parameters"]["charged"]))
                told = {each["name"]: each for each in reply["outputs"]}.get(output)
                if told is not None:  # an answer a row, whatever it says of its shape
                    shape = n_rows, *told["shape"][1:]
                    answers.append(np.asarray(told["data"]).reshape(shape))
            if told is None:
                raise ServiceError("no-output", 0, f"The service's reply holds no {output}")
        return np.concatenate(answers)

    def _parts(self, X: Any) -> list[dict[str, NDArray[Any]]]:
        columns = columns_of(X, self._connected()._kinds)
        n_rows = len(next(iter(columns.values())))
        if not n_rows:
            raise ValueError("X must have at least one row")
        return [
            {name: column[first : first + _BATCH] for name, column in columns.items()}
            for first in range(0, n_rows, _BATCH)
        ]

    def _post(
        self, plane: str, part: dict[str, NDArray[Any]], what: str, parameters: dict[str, Any]
    ) -> dict[str, Any]:
        body, headers = written(part, self._kinds, parameters)
        return self._channel().post(plane, "models", self.model_, what, body=body, headers=headers)

    def _budget(self) -> dict[str, float]:
        own = self._channel().get("v1", "models", self._connected().model_, "budget")
        with understood():
            return {name: float(own[name]) for name in ("quota", "spent", "remaining")}

    def _connected(self) -> PrivateModel:
        return self if self.__sklearn_is_fitted__() else self.fit()

    def _channel(self) -> Channel:
        check_parameters(self)
        return Channel(
            self.url,
            ApiKey.of(self.key),
            timeout=self.timeout,
            retries=self.retries,
            ca_file=self.ca_file,
        )

    def __dir__(self) -> list[str]:
        # scikit-learn looks up whatever is listed to show an estimator, and these ask the service.
        asked = ("guarantee_", "predict_proba", "remaining_budget_")
        return [name for name in object.__dir__(self) if name not in asked]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        if self.__sklearn_is_fitted__():
            tags.estimator_type = "classifier" if self._is_classifier else "regressor"
            if self._is_classifier:
                tags.classifier_tags = ClassifierTags(poor_score=True)
            else:
                tags.regressor_tags = RegressorTags(poor_score=True)
        return tags
