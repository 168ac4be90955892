"""Universe, secret, belief and ledgers: every release goes through a session."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn, final

import numpy as np

from pacsklearn._validation import check_budget
from pacsklearn.candidates.candidates import Candidates, FitOptions
from pacsklearn.candidates.design import Design
from pacsklearn.candidates.design import subset_seed as seed_of
from pacsklearn.core.candidate_space import CandidateSpace, candidate_space
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.curator_figure import CuratorFigure
from pacsklearn.core.guarantee import Guarantee
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.core.release import Release
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.subset_seed import SubsetSeed
from pacsklearn.release.account import Account, open_shared
from pacsklearn.release.function import FunctionPlan, release_value
from pacsklearn.release.parameters import ParameterPlan, ReleaseChoices, take_parameters
from pacsklearn.release.planned import ReleasePlan, planned_targets, release_planned
from pacsklearn.release.procedure import ReleaseProcedure
from pacsklearn.release.secret import Secret, resumed_sampler, sampler_for
from pacsklearn.release.session_certificate import curator_figure
from pacsklearn.release.session_criterion import as_criterion, check_cap, ledger_unit
from pacsklearn.responses.answer_kind import answer_kind
from pacsklearn.responses.responder import Responder
from pacsklearn.responses.responders import Responders
from pacsklearn.session.session_file import (
    check_ledger,
    read_session,
    session_state,
    write_session,
)

__all__ = ["PrivacySession"]


@final
class PrivacySession:
    """One secret, one belief and one ledger for any number of releases.

    Each release is calibrated against what the adversary believes after the releases before it,
    charged, and only then drawn. The secret candidate is drawn once, by the operating system's
    generator, and used for every release of the session, so that their charges add up even when
    each is chosen after looking at the ones before.

    Parameters
    ----------
    X, y : array-likes
        The universe.
    budget : float
        Ceiling of the session, in nats of mutual information.
    space : SecretSpace, optional
        Candidate subsets; a balanced design by the next four parameters when not given.
    n_subsets : int, default=128
    rate : float, default=0.5
    stratify : "auto" or bool, default="auto"
        Give every candidate the same share of each class; "auto" does when ``y`` holds classes.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy.
    subset_seed : None, int or SubsetSeed, default=None
        None draws the subsets in secret. An integer makes them public and the same every time: who
        then knows whether about seven rows were used can look all others up without any release.
        Every figure is that of an adversary who knows the subsets; see :class:`SubsetSeed`.
    ledger : None, str or Ledger, default=None
        A further account that every release is charged to as well, shared with other sessions and
        processes: a URI such as ``"sqlite:///clinic.db"``, or a ledger.
    random_state : None, int or RandomState, default=None
        None draws secret and noise securely. Anything else makes both reproducible, warns, and
        marks the guarantee as not for release.
    n_jobs : int, optional
        Workers that fit the candidates' models.
    verbose : int, default=0
        Show a progress bar.
    criterion : None, str, Criterion or callable, default=None
        Cap what an adversary achieves instead of the mutual information: ``"membership"``,
        ``"identification"``, ``"35_of_n"``, a :class:`Criterion`, or a callable that makes one
        for the secret space. ``budget`` is then the cap on her success, and the session makes one
        release: successes do not add up.
    fast_fit : bool, default=True
        Fit all candidates at once where that gives the same models (least squares, ridge, linear
        discriminants, PCA, naive Bayes, scalers and pipelines). False fits one after the other.
    allow_exact : bool, default=False
        Allow a budget of at least the entropy of the secret, ``ln(n_subsets)``: it hides nothing,
        and what it buys is published without noise.

    Attributes
    ----------
    guarantee_ : Guarantee
        What is promised about everything released so far.

    Raises
    ------
    BudgetError
        When ``budget`` is not a positive number, or hides nothing and ``allow_exact`` is False.

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
    >>> from pacsklearn import PrivacySession
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with PrivacySession(X, y, budget=1 / 2, n_subsets=32) as session:
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
        budget: float,
        space: SecretSpace | None = None,
        n_subsets: int = 128,
        rate: float = 0.5,
        stratify: Any = "auto",
        groups: Any = None,
        subset_seed: int | SubsetSeed | None = None,
        ledger: str | Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        criterion: Any = None,
        fast_fit: bool = True,
        allow_exact: bool = False,
    ) -> None:
        ceiling = check_budget(budget=budget)
        self._X = X if hasattr(X, "shape") else np.asarray(X)
        self._y = y if y is None or hasattr(y, "shape") else np.asarray(y)
        design = Design(n_subsets, rate, stratify, groups, seed_of(subset_seed, random_state))
        self._space: SecretSpace | CandidateSpace = space or design.space(self._X.shape[0], self._y)
        capped = as_criterion(criterion, self._space)
        check_cap(capped, ceiling, self._space, allow_exact=allow_exact)
        own = MemoryLedger(ceiling, ledger_unit(capped))
        self._account = Account(own, open_shared(ledger, own.ceiling, own.unit))
        self._secret = Secret(self._space.weights, sampler_for(random_state))
        self._start(n_jobs=n_jobs, verbose=verbose, criterion=capped, fast_fit=fast_fit)

    @classmethod
    def over(
        cls,
        candidates: Iterable[Any] | CandidateSpace,
        weights: Any = None,
        *,
        budget: float,
        secret: int | None = None,
        ledger: str | Ledger | None = None,
        random_state: Any = None,
        allow_exact: bool = False,
    ) -> PrivacySession:
        """Session whose secret is one of a list of arbitrary inputs, not a subset of rows.

        Parameters
        ----------
        candidates : iterable or CandidateSpace
            Inputs of the functions that :meth:`release_function` releases, for instance all keys.
        weights : array-like of shape (m,), optional
            Prior probabilities; uniform when not given.
        budget, ledger, random_state, allow_exact
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
        own = MemoryLedger(check_budget(budget=budget))
        session = cls.__new__(cls)
        session._X = session._y = None
        session._space = space = candidate_space(candidates, weights)
        check_cap(None, own.ceiling, space, allow_exact=allow_exact)
        session._account = Account(own, open_shared(ledger, own.ceiling))
        session._secret = Secret(space.weights, sampler_for(random_state))
        if secret is not None:
            session._secret.use(secret, space.numbers)
        session._start(n_jobs=None, verbose=0)
        return session

    def _start(
        self,
        *,
        n_jobs: int | None,
        verbose: int,
        criterion: Criterion | None = None,
        fast_fit: bool = True,
    ) -> None:
        self._n_jobs, self._verbose, self._fast_fit = n_jobs, verbose, fast_fit
        self._one_at_a_time = threading.RLock()
        self._procedure = ReleaseProcedure(
            self._space, self._secret, self._account, self._one_at_a_time, criterion
        )
        self._responders = Responders(
            self._secret, self._account, self._one_at_a_time, lambda: self.guarantee_
        )

    @property
    def ledger(self) -> Ledger:
        """Account of this session."""
        return self._account.own

    @property
    def space(self) -> SecretSpace | CandidateSpace:
        """Candidates; public."""
        return self._space

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised about everything released so far."""
        return self._procedure.guarantee()

    def release(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        fit_params: Mapping[str, Any] | None = None,
        individual: bool = False,
        certify: bool = True,
    ) -> Release:
        """Release a private model: fitted on the secret subset, canonical, noised.

        Parameters
        ----------
        estimator : estimator
        budget : float, optional
            Nats this release may reveal; all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            "auto" is ``"logdet"``, and ``"criterion"`` in a session with a criterion.
        metric : "auto", None, array-like or Metric
            What noise costs in each direction; "auto" asks the canonicalizer.
        canonicalizer : "auto", str or Canonicalizer
        fit_params : mapping, optional
            Passed to every subset's ``fit``.
        individual : bool, default=False
            Also compute what the release tells about each row by itself
            (pac-private-algorithms, section 6.3): ``individual`` of the result, and a line of its
            guarantee.
        certify : bool, default=True
            State what the optimal adversary achieves at the worst row under this release's noise,
            at confidence 1 - 1e-6, beside what the information implies. For the first release of
            a session: later noise depends on what came out, and so would the figure.

        Returns
        -------
        Release
            Its ``value`` is a fitted estimator that holds only private numbers. Its guarantee
            covers everything this session has released up to now.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted; the ledger is unchanged.
        """
        plan = self.prepare(
            estimator,
            budget=budget,
            noise=noise,
            metric=metric,
            canonicalizer=canonicalizer,
            fit_params=fit_params,
        )
        return self.take(plan, individual=individual, certify=certify)

    def prepare(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        fit_params: Mapping[str, Any] | None = None,
    ) -> ParameterPlan:
        """Fit every candidate's model, and nothing more: nothing is charged, drawn or released.

        Parameters
        ----------
        estimator, budget, noise, metric, canonicalizer, fit_params
            As for :meth:`release`.

        Returns
        -------
        ParameterPlan
            For :meth:`take`, and for the curator's own simulations. Secret material: it holds the
            models of all candidates.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted.
        """
        self._row_space()
        return ParameterPlan.of(
            estimator,
            lambda: self._candidates(estimator, fit_params),
            self._procedure.check(budget),
            ReleaseChoices(noise, metric, canonicalizer),
        )

    def take(
        self, plan: ParameterPlan, *, individual: bool = False, certify: bool = True
    ) -> Release:
        """Release what :meth:`prepare` of this session prepared; see :meth:`release`.

        Raises
        ------
        ValueError
            When the plan was prepared on other candidates.
        BudgetExhaustedError
            When the budget is gone meanwhile; nothing is charged or drawn.
        """
        if plan.space is not self._space:
            raise ValueError(
                "plan must come from prepare() of this session; it was prepared on other "
                "candidates, whose noise says nothing about this session's secret."
            )
        return take_parameters(self._procedure, plan, individual=individual, certify=certify)

    def release_function(
        self,
        function: Callable[..., Any],
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = None,
        certify: bool = True,
    ) -> Release:
        """Release a private value of any deterministic function of the secret.

        Parameters
        ----------
        function : callable
            Called with the rows of a candidate subset (``function(X_s)``, or ``function(X_s, y_s)``
            when the session has a ``y``), or with a candidate of a session made by :meth:`over`.
            Returns a number, or an array of numbers of a fixed shape.
        budget : float, optional
            Nats this release may reveal; all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            A noise backend, or ``"one_sided"`` for one whole number that may only grow.
        metric : None, array-like or Metric
            What noise costs in each direction of the flattened value.
        certify : bool, default=True
            As for :meth:`release`; the figure of padding is exact. None for candidates that are
            not subsets of rows.

        Returns
        -------
        Release
            Its ``value`` has the shape that the function returns; a float for a number, an int for
            one-sided noise. Its guarantee covers everything this session has released up to now.

        Raises
        ------
        BudgetExhaustedError
            Before the function is called; the ledger is unchanged.
        FunctionError
            When the function fails on a candidate, or returns no finite numbers of a fixed shape.
            The message quotes no value.
        NonDeterministicError
            When a second call on the first candidate gives another value.

        Notes
        -----
        *Guarantee.* As for :meth:`release`: the function is evaluated on every candidate, and the
        noise is calibrated to all the values. The function may use public constants, but nothing
        that depends on the other candidates. How long a call takes is not hidden.
        """
        return release_value(
            self._procedure,
            function,
            self._X,
            self._y,
            budget=budget,
            noise=noise,
            metric=metric,
            certify=certify,
        )

    def release_planned(
        self,
        releases: Iterable[Any],
        *,
        budgets: Iterable[float] | None = None,
        noise: Any = "auto",
        fit_params: Mapping[str, Any] | None = None,
        certify: bool = True,
    ) -> tuple[Release, ...]:
        """Release several models or values that are planned together, for one charge.

        No release is calibrated to what another one told, so the noise of all of them is fixed
        before the first is drawn, and what the optimal adversary achieves with all of them is
        certified and published: later releases of an open session have no such figure.

        Parameters
        ----------
        releases : iterable of estimators and functions
            An estimator is released as by :meth:`release`, any other callable as by
            :meth:`release_function`.
        budgets : iterable of float, optional
            Nats of each; equal shares of all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            For all of them.
        fit_params : mapping, optional
            Passed to every estimator's ``fit`` on every subset.
        certify : bool, default=True
            State what the optimal adversary achieves at the worst row with all of them together,
            at confidence 1 - 1e-6, where nothing was released before.

        Returns
        -------
        tuple of Release
            In order. All have the same guarantee and the same event.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted; the ledger is unchanged.

        Notes
        -----
        *Guarantee.* Given the secret the releases are independent, so together they reveal at most
        the sum of what each reveals by itself (chain rule of the mutual information).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from pacsklearn import PrivacySession
        >>> X, y = load_iris(return_X_y=True)
        >>> with PrivacySession(X, y, budget=1 / 4) as session:
        ...     model, mean = session.release_planned([GaussianNB(), lambda X, y: X.mean(axis=0)])
        >>> model.guarantee.n_releases
        2
        >>> model.guarantee.certified_membership < model.guarantee.posterior_membership
        True
        """
        planned = list(releases)
        stated = None if budgets is None else list(budgets)
        targets = planned_targets(self._procedure, len(planned), stated)
        plans: list[ReleasePlan] = []
        for number, (one, target) in enumerate(zip(planned, targets, strict=True)):
            if hasattr(one, "fit"):
                prepare = partial(self._candidates, one, fit_params)
                plans.append(ParameterPlan.of(one, prepare, target, ReleaseChoices(noise)))
            elif callable(one):
                plans.append(FunctionPlan.of(one, self._space, self._X, self._y, target, noise))
            else:
                raise TypeError(
                    f"releases[{number}] must be an estimator or a function, got an object of "
                    f"type {type(one).__name__}."
                )
        return release_planned(self._procedure, plans, certify=certify)

    def curator_figure(self) -> CuratorFigure:
        """What the releases so far have told about memberships; for the curator only.

        It depends on what came out, and is in no guarantee and no release: do not publish it, and
        do not decide by it what to publish.

        Returns
        -------
        CuratorFigure
            The optimal adversary's success under the very noise that was used, certified, and how
            sure she is of a row's membership after what was released.
        """
        space = self._row_space()
        self._account.home.check()
        with self._one_at_a_time:
            return curator_figure(
                self._procedure.certificate,
                space,
                self._secret.belief,
                self.guarantee_.posterior_membership,
                len(self._account.own.events),
                self._procedure.n_releases,
            )

    def responder(
        self,
        estimator: Any,
        *,
        query_budget: float | None = None,
        max_answers: int | None = None,
        answers: str = "auto",
        value_range: tuple[float, float] | None = None,
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
        value_range : (float, float), optional
            Public range that values are clipped to; required for regressors.
        fit_params : mapping, optional
            Passed to every candidate's ``fit``.

        Returns
        -------
        Responder
            The same one for the same arguments, with its step budget and its stored answers.
        """
        self._row_space()
        if self._procedure.criterion is not None:
            raise ValueError(
                "criterion must be None for private responses: every answer is a release, and "
                "caps on the adversary's success do not add up over them."
            )
        candidates = self._candidates(estimator, fit_params)
        return self._responders.find(
            candidates,
            query_budget=query_budget,
            max_answers=max_answers,
            kind=answer_kind(estimator, candidates.y, answers, value_range),
        )

    def respond(self, estimator: Any, X: Any, **responder_params: Any) -> Any:
        """Private answers of ``estimator`` to the rows of ``X``; see :meth:`responder`.

        Returns
        -------
        ndarray of shape (n,) or (n, width)
        """
        return self.responder(estimator, **responder_params).predict(X)

    def save(self, path: str | os.PathLike[str], *, key: Any = None) -> None:
        """Write the session to a file, to go on elsewhere with :meth:`load`.

        The file is secret material: it holds the rows, the candidates' models, the secret and the
        stored answers. It is readable by its owner only (mode 0600); treat a copy like the data.

        Parameters
        ----------
        path : str or path-like
            A file that is there is replaced.
        key : str, bytes or path-like, optional
            A passphrase, or the path (a ``pathlib.Path``) of a key file: whoever loads the file
            needs it, and nobody without it can have altered the file. Required where the session
            holds fitted models or anything else whose loading runs code.

        Raises
        ------
        SessionFileError
            When a key is required and none was given, or it is too short.
        LedgerError
            When the session has no ledger in a database (``ledger="sqlite:///path"``): nothing
            would stop a file that is loaded twice from spending the budget twice.

        Notes
        -----
        The session may go on afterwards; the file is then out of date, and refused. A session with
        a ``random_state`` resumes its generator where it was.
        """
        self._account.home.check()
        with self._one_at_a_time:
            options = {
                "n_jobs": self._n_jobs,
                "verbose": self._verbose,
                "criterion": self._procedure.criterion,
                "fast_fit": self._fast_fit,
            }
            write_session(
                path,
                session_state(self._X, self._y, self._procedure, self._responders, options),
                key,
            )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        key: Any = None,
        trusted: bool = False,
        ledger: str | Ledger | None = None,
    ) -> PrivacySession:
        """Go on with a saved session; whoever saved it, or loaded it before, cannot any more.

        A file without a key holds numbers, texts and arrays, and loading it runs no code. A file
        with one is verified before any of it is read.

        Parameters
        ----------
        path : str or path-like
            Written by :meth:`save`.
        key : str, bytes or path-like, optional
            As given to :meth:`save`.
        trusted : bool, default=False
            Load a file that was saved without a key: you know that it is yours.
        ledger : str or Ledger, optional
            Where the session's ledger is now, if it was moved.

        Returns
        -------
        PrivacySession
            With its belief, secret, stored answers, fitted models and responders: asking for the
            same :meth:`responder` again gives the one that was saved.

        Raises
        ------
        SessionFileError
            When the file is something else, was altered, belongs to somebody else or can be written
            by others, was saved with another key, or without one and is not ``trusted``.
        SessionRolledBackError
            When the session was charged or resumed since it was saved, or the ledger is an older
            copy.

        Notes
        -----
        An event of no charge in the shared ledger marks the session as resumed, so that a file
        works once. Only whoever puts back an older file *and* an older ledger goes unnoticed: keep
        the ledger's position elsewhere (see ``SQLiteLedger.is_ahead_of``).
        """
        state = read_session(path, key, trusted=trusted)
        shared = check_ledger(ledger, state)
        own = MemoryLedger(state.ceiling, ledger_unit(state.options["criterion"]))
        for event in state.events:
            own.charge(event)
        session = cls.__new__(cls)
        session._X, session._y, session._space = state.X, state.y, state.space
        session._account = Account(own, shared, state.session, state.n_charged)
        session._secret = Secret(state.space.weights, resumed_sampler(state.generator))
        session._secret.restore(*state.drawn)
        session._start(**state.options)
        session._responders.restore(state.models, state.responders)
        # Last, so that whatever fails before leaves the file good for another attempt.
        session._account.resume()
        return session

    def close(self) -> None:
        """Release nothing more, and stop drawing noise ahead. What was released stays valid.

        Answers that are stored, or on which all candidates agree, are still given.
        """
        if self._account.home.is_here:
            with self._one_at_a_time:  # whatever is on its way is finished first
                self._account.is_closed = True
        self._responders.close()

    def _candidates(self, estimator: Any, fit_params: Mapping[str, Any] | None) -> Candidates:
        options = FitOptions(fit_params or {}, self._n_jobs, self._verbose, self._fast_fit)
        return Candidates.prepare(estimator, self._X, self._y, self._row_space(), options)

    def _row_space(self) -> SecretSpace:
        if not isinstance(self._space, SecretSpace):
            raise TypeError(
                "This session is over arbitrary candidates, not over subsets of rows; use "
                "release_function, or begin a session with PrivacySession(X, y, ...)."
            )
        return self._space

    def __enter__(self) -> PrivacySession:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        size = f"n_candidates={self._space.n_candidates}"
        if isinstance(self._space, SecretSpace):
            size = f"n_rows={self._space.n_rows}, n_subsets={self._space.n_subsets}"
        return (
            f"PrivacySession({size}, spent={self.ledger.spent:.6g}, "
            f"ceiling={self.ledger.ceiling:.6g})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A PrivacySession holds the secret and cannot be pickled or copied; keep it in the "
            "process that owns it and publish its releases, or move it with save and load."
        )
