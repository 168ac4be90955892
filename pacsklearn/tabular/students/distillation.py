"""Students of private answers: a model that can be published and asked for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn import _rehearsal
from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.tabular.students.teaching import check_alpha, check_consent, rehearse, taught
from pacsklearn.universe.frame import as_pandas


@final
@dataclass(frozen=True, eq=False)
class DistilledModel:
    """A student and the promise it inherits.

    Parameters
    ----------
    estimator : estimator
        Fitted on private labels of public rows: publish it.
    guarantee : PACGuarantee
        Of everything the session has answered; fitting on the answers reveals no more.
    n_public : int
        Public rows labelled.
    n_kept : int
        Rows whose label passed the confidence test.
    alpha : float or None
        Most that the chance of keeping a wrong label is, for each row.
    """

    estimator: Any
    guarantee: PACGuarantee
    n_public: int
    n_kept: int
    alpha: float | None


def distill(
    source: PACPrivate | PrivacySession | Responder,
    student: Any,
    X_public: Any,
    *,
    alpha: float | None = 0.01,
    estimator: Any = None,
    **respond_params: Any,
) -> DistilledModel:
    """Label public rows privately and fit a student on the labels that are sure enough.

    Parameters
    ----------
    source : PACPrivate, PrivacySession or Responder
        Where the answers come from: an estimator fitted with ``release=Answers()``, what
        :meth:`PrivacySession.responder` returned, or a session together with ``estimator``.
    student : estimator
        Any scikit-learn estimator; a clone is fitted. It sees nothing but public rows and private
        labels.
    X_public : array-like of shape (n_public, n_features)
        Rows that are no secret. Each is charged like any other query.
    alpha : float or None, default=0.01
        Keep a row only if its label is the true model's with confidence ``1 - alpha`` against
        every other label. None keeps all rows, as do answers that are numbers.
    estimator : estimator, optional
        What answers, when ``source`` is a session.
    **respond_params : dict
        Passed to :meth:`PrivacySession.responder` (``query_budget``, ``max_answers``).

    Returns
    -------
    DistilledModel

    Raises
    ------
    BudgetExhaustedError
        When the budget does not cover the public rows that are contested.
    BudgetError
        When the student would hide nothing and the budget does not allow that.
    ValueError
        When too few rows pass the test to fit a student.

    Notes
    -----
    *Guarantee.* The student is a function of the answers and of public rows, so it reveals no more
    than the answers did; a mislabelled row is kept with probability at most ``alpha``. Source:
    pac-private-responses, section 5 and Proposition 5.1, whose test is applied at level
    ``alpha / (n_classes - 1)``: the answer is chosen after looking at the noise, so with more than
    two labels the level as printed is passed (measured: 0.60 instead of 0.30 with eight labels).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from pacsklearn import Answers, PACPrivate, Subsets
    >>> from pacsklearn.tabular import distill
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> teacher = PACPrivate(
    ...     make_pipeline(StandardScaler(), SVC()), release=Answers(1000), secret=Subsets(16)
    ... ).fit(X[:400], y[:400])
    >>> student = make_pipeline(StandardScaler(), LogisticRegression())
    >>> model = distill(teacher, student, X[400:])  # rows assumed public
    >>> model.n_kept <= model.n_public
    True
    """
    check_alpha(alpha)
    responder = _responder(source, estimator, respond_params)
    check_consent(responder.procedure)
    X_public = as_pandas(X_public)
    X_public = X_public if hasattr(X_public, "shape") else np.asarray(X_public)
    tried = rehearse(lambda *_: student, X_public, responder.kind)
    _rehearsal.rehearse(tried, lambda: mark_released(tried, responder.guarantee_))
    fitted, n_kept = taught(lambda *_: student, X_public, responder, alpha)
    guarantee = responder.guarantee_
    return DistilledModel(
        mark_released(fitted, guarantee), guarantee, int(X_public.shape[0]), n_kept, alpha
    )


def _responder(source: Any, estimator: Any, params: dict[str, Any]) -> Responder:
    if isinstance(source, PrivacySession):
        if estimator is None:
            raise ValueError("estimator must say what answers when the source is a session.")
        return source.responder(estimator, **params)
    if estimator is not None or params:
        raise ValueError(
            "estimator and its parameters go with a session; a fitted source has its own."
        )
    if isinstance(source, Responder):
        return source
    if isinstance(source, PACPrivate):
        return source.responder()
    raise TypeError(
        "source must be a PACPrivate fitted with release=Answers(), a PrivacySession or a "
        f"Responder, got {type(source).__name__}."
    )
