"""Universe, secret, belief and ledgers: every release goes through a session."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, NoReturn, final

import numpy as np

from pacsklearn._validation import check_budget
from pacsklearn.core.event import Event
from pacsklearn.core.guarantee import Guarantee
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.core.release import Release
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.plugin import registry
from pacsklearn.session.account import Account, open_shared
from pacsklearn.session.calibration import observe, output_metric
from pacsklearn.session.responder import Responder
from pacsklearn.session.responders import Responders
from pacsklearn.session.response_kind import response_kind
from pacsklearn.session.secret import Secret, sampler_for
from pacsklearn.session.seeding import seeded_clone
from pacsklearn.session.session_file import (
    SessionState,
    check_ledger,
    read_session,
    shared_position,
    write_session,
)
from pacsklearn.session.statement import pac_guarantee, public_facts
from pacsklearn.session.subset_training import candidate_outputs
from pacsklearn.session.universe import check_universe, design_space

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
    subset_seed : int, default=0
        Public seed of the design.
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

    Attributes
    ----------
    guarantee_ : Guarantee
        What is promised about everything released so far.

    Raises
    ------
    BudgetError
        When ``budget`` is not a positive number.

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
        subset_seed: int = 0,
        ledger: str | Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        own = MemoryLedger(check_budget(budget=budget))
        self._X = X if hasattr(X, "shape") else np.asarray(X)
        self._y = y if y is None or hasattr(y, "shape") else np.asarray(y)
        self._space = space or design_space(
            self._X,
            self._y,
            n_subsets=n_subsets,
            rate=rate,
            stratify=stratify,
            groups=groups,
            seed=subset_seed,
        )
        self._account = Account(own, open_shared(ledger, own.ceiling))
        self._secret = Secret(self._space.weights, sampler_for(random_state))
        self._start(n_jobs=n_jobs, verbose=verbose)

    def _start(self, *, n_jobs: int | None, verbose: int) -> None:
        self._n_jobs, self._verbose = n_jobs, verbose
        self._one_at_a_time = threading.RLock()
        self._responders = Responders(
            self._secret, self._account, self._one_at_a_time, lambda: self.guarantee_
        )

    @property
    def ledger(self) -> Ledger:
        """Account of this session."""
        return self._account.own

    @property
    def space(self) -> SecretSpace:
        """Candidate subsets; public."""
        return self._space

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised about everything released so far."""
        events = self.ledger.events
        spent = self._promised()
        return pac_guarantee(
            self._space,
            budget=self.ledger.ceiling,
            spent=spent,
            metered=self.ledger.spent,
            n_releases=len(events),
            bound="sum of the releases' bounds, each given the releases before it",
            confidence=1.0,
            noise=", ".join(sorted({event.backend for event in events})) or "none yet",
            noiseless=spent >= self._space.entropy,
            released=[f"{len(events)} release(s)"],
            public=("hyper-parameters", "public seeds", "classes_"),
            for_release=self._secret.sampler.is_secure,
            provenance=dict.fromkeys(used for event in events for used in event.provenance),
        )

    def release(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "logdet",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        fit_params: Mapping[str, Any] | None = None,
    ) -> Release:
        """Release a private model: fitted on the secret subset, canonical, noised.

        Parameters
        ----------
        estimator : estimator
        budget : float, optional
            Nats this release may reveal; all that remains when not given.
        noise : str or NoiseBackend
        metric : "auto", None, array-like or Metric
            What noise costs in each direction; "auto" asks the canonicalizer.
        canonicalizer : "auto", str or Canonicalizer
        fit_params : mapping, optional
            Passed to every subset's ``fit``.

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
        asked = self._account.check(budget)
        plugins = registry()
        backend = plugins.noise_backend(noise)
        chosen = plugins.canonicalizer(canonicalizer, estimator)
        named = (
            chosen if isinstance(canonicalizer, str) and canonicalizer == "auto" else canonicalizer
        )
        provenance = (
            plugins.provenance("noise_backend", noise),
            plugins.provenance("canonicalizer", named),
        )
        X, y = check_universe(estimator, self._X, self._y)
        outputs = candidate_outputs(
            estimator,
            chosen,
            X,
            y,
            self._space,
            fit_params=fit_params,
            n_jobs=self._n_jobs,
            verbose=self._verbose,
        )
        cost = output_metric(metric, chosen, outputs, X)
        with self._one_at_a_time:
            support = Support(outputs.vectors, self._secret.belief)
            law = backend.calibrate(support, Target(asked), cost)
            event = Event(
                kind="parameters",
                charge=law.bound,
                unit="nats",
                backend=law.backend,
                bound=law.bound,
                n_candidates=self._space.n_subsets,
                n_outputs=outputs.layout.size,
                n_noisy=0 if law.is_noiseless else law.dimension,
                provenance=provenance,
            )
            event = self._account.charge(event)
            observed = observe(law, self._secret.index, self._secret.sampler)
            self._secret.learn(law.log_likelihood(observed))
        guarantee = pac_guarantee(
            self._space,
            budget=asked if len(self.ledger.events) == 1 else self.ledger.ceiling,
            spent=self._promised(),
            n_releases=len(self.ledger.events),
            metered=self.ledger.spent,
            bound=law.proof,
            confidence=law.confidence,
            noise=law.backend,
            noiseless=law.is_noiseless,
            released=chosen.noised,
            public=public_facts(outputs.layout),
            for_release=self._secret.sampler.is_secure,
            provenance=provenance,
        )
        value = chosen.decode(law.decode(observed), outputs.layout, seeded_clone(estimator))
        return Release(value, guarantee, event, law.noise_power, law.released_power)

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
        X, y = check_universe(estimator, self._X, self._y)
        return self._responders.find(
            estimator,
            X,
            y,
            self._space,
            query_budget=query_budget,
            max_answers=max_answers,
            kind=response_kind(estimator, y, answers, value_range),
            fit_params=fit_params,
            n_jobs=self._n_jobs,
            verbose=self._verbose,
        )

    def respond(self, estimator: Any, X: Any, **responder_params: Any) -> Any:
        """Private answers of ``estimator`` to the rows of ``X``; see :meth:`responder`.

        Returns
        -------
        ndarray of shape (n,) or (n, width)
        """
        return self.responder(estimator, **responder_params).predict(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a file, to go on elsewhere with :meth:`load`.

        The file is secret material: it holds the rows, the candidates' models, the secret and the
        stored answers. It is readable by its owner only (mode 0600); treat a copy like the data.

        Parameters
        ----------
        path : str or path-like
            A file that is there is replaced.

        Raises
        ------
        LedgerError
            When the session has no ledger in a database (``ledger="sqlite:///path"``): nothing
            would stop a file that is loaded twice from spending the budget twice.

        Notes
        -----
        The session may go on afterwards; the file is then out of date, and refused. A session with
        a ``random_state`` resumes its generator where it was.
        """
        with self._one_at_a_time:
            account = self._account
            position = shared_position(account.shared, account.own, account.session)
            assert account.shared is not None
            models, responders = self._responders.export()
            state = SessionState(
                X=self._X,
                y=self._y,
                space=self._space,
                sampler=self._secret.sampler,
                drawn=self._secret.export(),
                ceiling=account.own.ceiling,
                events=account.own.events,
                session=account.session,
                n_charged=account.n_charged,
                ledger=account.shared,
                position=position,
                models=models,
                responders=responders,
                options={"n_jobs": self._n_jobs, "verbose": self._verbose},
            )
            write_session(path, state)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, ledger: str | Ledger | None = None
    ) -> PrivacySession:
        """Go on with a saved session; whoever saved it, or loaded it before, cannot any more.

        Loading unpickles, which runs code: load only files of your own.

        Parameters
        ----------
        path : str or path-like
            Written by :meth:`save`.
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
            When the file is something else, or was altered.
        SessionRolledBackError
            When the session was charged or resumed since it was saved, or the ledger is an older
            copy.

        Notes
        -----
        An event of no charge in the shared ledger marks the session as resumed, so that a file
        works once. Only whoever puts back an older file *and* an older ledger goes unnoticed: keep
        the ledger's position elsewhere (see ``SQLiteLedger.is_ahead_of``).
        """
        state = read_session(path)
        shared = check_ledger(ledger, state)
        own = MemoryLedger(state.ceiling)
        for event in state.events:
            own.charge(event)
        session = cls.__new__(cls)
        session._X, session._y, session._space = state.X, state.y, state.space
        session._account = Account(own, shared, state.session, state.n_charged)
        session._secret = Secret(state.space.weights, state.sampler)
        session._secret.restore(*state.drawn)
        session._start(**state.options)
        session._responders.restore(state.models, state.responders)
        # Last, so that whatever fails before leaves the file good for another attempt.
        session._account.resume()
        return session

    def close(self) -> None:
        """Stop drawing noise ahead. What has been released stays valid."""
        self._responders.close()

    def _promised(self) -> float:
        """Bound that holds whatever was released: the ceiling once steps depend on one another.

        What was charged on this transcript is an average's sample, not a bound; for one release it
        is known before anything is drawn.
        """
        events = self.ledger.events
        if len(events) > 1 or any(event.kind == "responses" for event in events):
            return self.ledger.ceiling
        return self.ledger.spent

    def __enter__(self) -> PrivacySession:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"PrivacySession(n_rows={self._space.n_rows}, n_subsets={self._space.n_subsets}, "
            f"spent={self.ledger.spent:.6g}, ceiling={self.ledger.ceiling:.6g})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A PrivacySession holds the secret and cannot be pickled or copied; keep it in the "
            "process that owns it and publish its releases, or move it with save and load."
        )
