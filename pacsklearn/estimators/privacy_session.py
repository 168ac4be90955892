"""Universe, secret, belief and ledgers: every release goes through a session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np

from pacsklearn.estimators.answer_kinds import answer_kind
from pacsklearn.estimators.joint_labels import answer_together
from pacsklearn.estimators.open_fit import Opening
from pacsklearn.estimators.released_answers import kind_of_answers
from pacsklearn.estimators.session_releases import SessionReleases
from pacsklearn.estimators.stored_session import StoredSession
from pacsklearn.estimators.subsets import candidate_space, design_of, listed_design
from pacsklearn.estimators.table_space import space_for
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space
from pacsklearn.priors import Prior
from pacsklearn.universe.design import StatedDesign
from pacsklearn.universe.frame import with_gaps
from pacsklearn.universe.stated_budget import as_budget


@final
class PrivacySession(SessionReleases, StoredSession):
    """One secret, one belief and one ledger for any number of releases.

    Each release is calibrated against what the adversary believes after the releases before it,
    charged, and only then drawn. The secret candidate is drawn once, by the operating system's
    generator, and used for every release of the session, so that their charges add up even when
    each is chosen after looking at the ones before.

    Parameters
    ----------
    X, y : array-likes
        The universe.
    budget : float or Budget
        Ceiling of the session: a number of nats of mutual information, :class:`~pacsklearn.Nats`,
        or a cap on what an adversary achieves, such as :class:`~pacsklearn.Membership`. Successes
        do not add up: under a cap the session makes one release.
    secret : None, Subsets, SampledSubsets or SecretSpace, default=None
        What is hidden: which of a list of balanced subsets is used (None is :class:`Subsets` with
        its defaults; a :class:`SecretSpace` lists them), or which of *all* balanced subsets
        (:class:`SampledSubsets`), in which known memberships tell next to nothing about others
        but those of a block or a rare class.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy.
    ledger : None, str or Ledger, default=None
        A further account that every release is charged to as well, shared with other sessions and
        processes: a URI such as ``"sqlite:///clinic.db"``, or a ledger.
    random_state : None, int or RandomState, default=None
        None draws secret and noise securely. Anything else makes both reproducible, warns, and
        marks the guarantee as not for release.
    n_jobs : int, optional
        Workers that fit the candidates' models.
    verbose : int, default=0
        Show how far the fits are, as joblib does.
    store : {"memory", "ledger"}, default="memory"
        Where private answers are stored. "ledger" puts them into the ledger's database, where they
        are on disk before they are told, and holds only those used last in memory; a session that
        was killed then goes on from its last file. Its ``ledger`` must be in a database.

    Attributes
    ----------
    guarantee_ : Guarantee
        What is promised about everything released so far.

    Raises
    ------
    BudgetError
        When ``budget`` is not a positive number, or hides nothing and does not consent to it.

    Notes
    -----
    *Guarantee.* ``I(S; everything released) <= budget`` against an adaptive adversary: each step's
    bound holds given all steps before it, and a step that could take the sum past the budget is
    refused. Source: pac-private-responses, Algorithm 1 and Theorem 3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pacsklearn import PrivacySession, Subsets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with PrivacySession(X, y, budget=1 / 2, secret=Subsets(32)) as session:
    ...     scaler = session.release(StandardScaler(), budget=1 / 4).value
    ...     model = session.release(LinearDiscriminantAnalysis(), budget=1 / 8).value
    >>> round(session.ledger.remaining, 3)
    0.125
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        budget: float | Budget,
        secret: StatedDesign | SecretSpace | None = None,
        groups: Any = None,
        ledger: str | Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        store: str = "memory",
    ) -> None:
        opening = Opening(as_budget(budget), ledger, random_state)
        fitting = FitOptions({}, n_jobs, verbose)
        kind = space_for(X)
        X = X if kind is not None or hasattr(X, "shape") else np.asarray(X)
        if kind is None and X.shape[:1] in ((), (0,)):
            raise TypeError(
                "X must be the rows that the session is about, a table or an array, got "
                f"{X.dtype.name} without rows; for a list of inputs see PrivacySession.over."
            )
        y = y if y is None or hasattr(y, "shape") else with_gaps(y)
        if kind is not None:
            known: Space = kind.over(
                X, y, listed_design(secret, groups, random_state, f"a {type(X).__name__}")
            )
        elif isinstance(secret, SecretSpace):
            known = secret
        else:
            known = design_of(secret, groups, random_state).space(X, y)
        if store not in ("memory", "ledger") or (store == "ledger" and known.once):
            raise ValueError(
                "store must be 'memory', or 'ledger' in a session whose candidates are listed, got "
                f"{store!r}."
            )
        # Seals what is stored: without it nobody can write an answer, or find a row's own.
        answers_key = os.urandom(32) if store == "ledger" else None
        procedure = opening.procedure(known, X)
        self._start(X, y, known, procedure, opening.budget, fitting, answers_key)
        if self._answer_table is not None:
            self._answer_table.begin(self._secret.log_belief)
        if groups is not None:
            self._unit_names = np.unique(np.asarray(groups))

    @classmethod
    def over(
        cls,
        candidates: Iterable[Any] | CandidateSpace,
        weights: Any = None,
        *,
        budget: float | Budget,
        secret: int | None = None,
        ledger: str | Ledger | None = None,
        random_state: Any = None,
    ) -> PrivacySession:
        """Open a session whose secret is one of a list of inputs, not a subset of rows.

        Parameters
        ----------
        candidates : iterable or CandidateSpace
            Inputs of the functions that :meth:`release_function` releases, for instance all keys.
            Those that are equal (``==``) count as one, with the sum of their weights; functions
            are given the first of them.
        weights : array-like of shape (m,), optional
            Prior probabilities; uniform when not given.
        budget, ledger, random_state
            As for :class:`PrivacySession`.
        secret : int, optional
            Which candidate is in use, when it was drawn elsewhere: once, with these weights, by a
            secure generator. The session draws one when not given.

        Returns
        -------
        PrivacySession

        Examples
        --------
        >>> from pacsklearn import PrivacySession
        >>> with PrivacySession.over(range(16), budget=1 / 2) as session:
        ...     bits = session.release_function(lambda key: key.bit_count(), noise="one_sided")
        >>> bits.value in range(5)
        True
        """
        opening = Opening(as_budget(budget), ledger, random_state)
        space = candidate_space(candidates, weights)
        procedure = opening.procedure(space)
        if secret is not None:
            procedure.secret.use(secret, space.numbers)
        session = cls.__new__(cls)
        session._start(None, None, space, procedure, opening.budget, FitOptions())
        return session

    def responder(
        self,
        estimator: Any,
        *,
        query_budget: float | None = None,
        max_answers: int | None = None,
        answers: str = "auto",
        prior: Prior | None = None,
        fit_params: Mapping[str, Any] | None = None,
    ) -> Responder:
        """Fit the candidates of a black box and return what answers queries with it.

        Parameters
        ----------
        estimator : estimator
            Any classifier or regressor.
        query_budget : float, optional
            Nats a contested answer may reveal.
        max_answers : int, optional
            Instead of ``query_budget``: share what remains of the budget among so many answers,
            even if all of them are contested.
        answers : {"auto", "labels", "probabilities", "values"}, default="auto"
            Labels of classifiers, their class probabilities clipped to [0, 1], or values of
            regressors.
        prior : Range or Expected, optional
            Public range that values are clipped to; required for regressors. Noisy values are
            drawn toward its middle, or what is expected, as far as their noise asks for.
        fit_params : mapping, optional
            Passed to every candidate's ``fit``.

        Returns
        -------
        Responder
            The same one for the same arguments, with its step budget and its stored answers.

        Notes
        -----
        Nothing warns of answers that are no better than a constant: a session does not know what
        else it will be asked. A fit of ``PACPrivate(release=Answers())`` does, and its ``plan``
        shows the figures.
        """
        space = self._space.row_subsets()
        candidates = self._fits(estimator, fit_params).of_rows(space)
        return self._responders.find(
            candidates,
            query_budget=query_budget,
            max_answers=max_answers,
            kind=kind_of_answers(estimator, candidates.y, answers, prior),
        )

    def respond(self, estimator: Any, X: Any, **responder_params: Any) -> Any:
        """Answer the rows of ``X`` privately by ``estimator``; see :meth:`responder`.

        Returns
        -------
        ndarray of shape (n,) or (n, width)
        """
        return self.responder(estimator, **responder_params).predict(X)

    def respond_together(
        self, estimator: Any, X: Any, *, fit_params: Mapping[str, Any] | None = None
    ) -> tuple[Release, int]:
        """Label all rows of ``X`` privately at once, for all that remains of the budget.

        One release, so that a session with a criterion can make it; of nothing that is asked later.

        Parameters
        ----------
        estimator : classifier
        X : array-like of shape (n, n_features)
        fit_params : mapping, optional

        Returns
        -------
        Release
            Its ``value`` has the labels, shape (n,).
        int
            Rows on which the candidates disagree; the others have their label without noise,
            which is a function of the whole table.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted.
        """
        space = self._space.row_subsets()
        target = self._procedure.check(None)
        candidates = self._fits(estimator, fit_params).of_rows(space)
        kind = answer_kind(estimator, candidates.y, "labels", None)
        return answer_together(self._procedure, candidate_models(candidates), kind, X, target)
