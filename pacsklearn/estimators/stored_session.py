"""A session that moves to another process by a file."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.open_session import OpenSession
from pacsklearn.estimators.session_file import read_session, write_session
from pacsklearn.estimators.session_state import SessionState, check_ledger, session_state
from pacsklearn.exceptions import SessionRolledBackError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.universe.samplers import resumed_sampler


class CaughtUp(NamedTuple):
    """State to resume, and what the ledger holds for its session.

    Parameters
    ----------
    state : SessionState
    charged : frozenset of int
        Numbers of the session's events that were charges.
    """

    state: SessionState
    charged: frozenset[int]


def caught_up(
    state: SessionState, ledger: Ledger, log_belief: NDArray[np.float64] | None
) -> CaughtUp:
    """Count what was charged since the state was taken, and take over the belief of then.

    Parameters
    ----------
    state : SessionState
        Taken when the session began.
    ledger : Ledger
        The session's; whoever resumes the state verifies it.
    log_belief : ndarray of shape (m,) or None
        After the last answer that was stored; None when none was. A charge whose answer was never
        stored has told nobody anything: it stays charged, and the belief is that before it.
    """
    events: list[Event] = list(state.events)
    known = {event.key for event in events}
    here = {event.key: event for event in ledger.events}
    numbers, n_charged = [], 0
    while True:
        key = f"{state.session}/{n_charged}"
        # What a reservation paid for stands in another account of the same ledger.
        event = here.get(key) or ledger.find(key)
        if event is None:
            break
        # A resumption is numbered like a charge, and is none.
        if event.kind != "resumed":
            numbers.append(n_charged)
            if key not in known:
                events.append(event)
        n_charged += 1
    index, belief = state.drawn
    return CaughtUp(
        replace(
            state,
            events=tuple(events),
            n_charged=n_charged,
            drawn=(index, belief if log_belief is None else log_belief),
        ),
        frozenset(numbers),
    )


def answers_only(state: SessionState, ledger: Ledger) -> SessionState:
    """Return state with what was charged since it was taken, when answers in ledger are all of it.

    The belief is still that of the state.

    Raises
    ------
    SessionRolledBackError
        When anything else was charged: what it told is on no disk.
    """
    now = caught_up(state, ledger, None).state
    for event in now.events[len(state.events) :]:
        if event.kind != "responses":
            raise SessionRolledBackError(
                "Since the session was saved it has released more than answers, and the file does "
                f"not hold what (an event of the kind {event.kind!r}). Begin a new session."
            )
    return now


# What a file keeps of how candidates are fitted.
_FITTING = ("n_jobs", "verbose", "fast_fit")


class StoredSession(OpenSession):
    """Saving and loading of :class:`PrivacySession`."""

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
            needs it, and nobody without it can have altered the file. Only a file with a key holds
            fitted models, those that skops can write (linear models and support vector machines,
            say; not trees); others are fitted again when a loaded session is first asked for them.

        Raises
        ------
        SessionFileError
            When the key is too short, or the session holds objects that only running code would
            read again (a criterion of your own, columns of a kind that is not known).
        LedgerError
            When the session has no ledger in a database (``ledger="sqlite:///path"``): nothing
            would stop a file that is loaded twice from spending the budget twice.

        Notes
        -----
        The session may go on afterwards; the file is then out of date, and refused. A session with
        a ``random_state`` resumes its generator where it was.
        """
        write_session(path, self.state(), key)

    def state(self) -> SessionState:
        """Return everything that the session is, as :meth:`save` writes it; secret material.

        Raises
        ------
        LedgerError
            When the session has no ledger in a database.
        """
        self._space.listed()  # or says why there is nothing to go on from
        self._account.home.check()
        with self._one_at_a_time:
            self._account.settle_answers()
            options = {
                **{name: getattr(self._fitting, name) for name in _FITTING},
                "budget": self._budget,
                "answers_key": self._answers_key,
            }
            return session_state(self._X, self._y, self._procedure, self._responders, options)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        key: Any = None,
        trusted: bool = False,
        ledger: str | Ledger | None = None,
    ) -> Self:
        """Go on with a saved session; whoever saved it, or loaded it before, cannot any more.

        A file holds numbers, texts, arrays and tables, and where it has a key models as skops
        writes them, of classes on a list of ours: nothing is unpickled, and loading runs no code
        and connects to no host that the file names. A file with a key is verified before any of it
        is read.

        Parameters
        ----------
        path : str or path-like
            Written by :meth:`save`.
        key : str, bytes or path-like, optional
            As given to :meth:`save`.
        trusted : bool, default=False
            Load a file that was saved without a key: you know that it is yours.
        ledger : str or Ledger, optional
            The session's ledger. Not needed for a file with a key whose ledger is a file that is
            where it was.

        Returns
        -------
        PrivacySession
            With its belief, secret, stored answers, models and responders: asking for the
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
        works once; with ``store="ledger"`` also again, after answers that are in the ledger's
        database and nothing else, and whoever had the session before cannot go on then. Only
        whoever puts back an older file *and* an older ledger goes unnoticed: keep the ledger's
        position elsewhere (see ``pacsklearn.upkeep.verification``).
        """
        return cls.resume(read_session(path, key, trusted=trusted), ledger=ledger)

    @classmethod
    def resume(cls, state: SessionState, *, ledger: str | Ledger | None = None) -> Self:
        """Go on from what :meth:`state` gave, as :meth:`load` does from a file.

        Parameters
        ----------
        state : SessionState
        ledger : str or Ledger, optional
            Where the session's ledger is now, if it was moved.

        Raises
        ------
        SessionRolledBackError
            When the session was charged or resumed since, or the ledger is an older copy.
        """
        shared = check_ledger(ledger, state)
        saved = state.n_charged
        # Noise that can be drawn again has no place after answers that were told.
        if state.options.get("answers_key") is not None and state.generator is None:
            state = answers_only(state, shared)
        terms = Terms(state.space, state.options["budget"].criterion(state.space))
        own = MemoryLedger(state.ceiling, terms.unit)
        for event in state.events:
            own.charge(event)
        account = Account(own, shared, state.session, state.n_charged)
        secret = Secret(state.space, resumed_sampler(state.generator))
        secret.restore(*state.drawn)
        session = cls.__new__(cls)
        options = dict(state.options)
        fitting = FitOptions(**{name: options.pop(name) for name in _FITTING})
        answers_key, budget = options.pop("answers_key", None), options.pop("budget")
        procedure = ReleaseProcedure(
            terms, secret, account, threading.RLock(), budget.allow_exact, **options
        )
        session._start(state.X, state.y, state.space, procedure, budget, fitting, answers_key)
        session._procedure.certificate.restore(*state.certificate)
        session._responders.restore(state.models, state.responders)
        # Last, so that whatever fails before leaves the file good for another attempt.
        account.resume()
        if session._answer_table is not None:
            # After it: whoever had the session can store nothing more.
            n_events, log_belief = session._answer_table.last_belief()
            if n_events > saved:
                secret.restore(state.drawn[0], log_belief)
        return session
