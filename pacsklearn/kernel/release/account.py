"""What a session keeps: its secret and the belief about it, and what may still be spent."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import is_whole
from pacsklearn.exceptions import (
    BudgetExhaustedError,
    LedgerMismatchError,
    LedgerUnknownError,
    PacsklearnError,
    SessionRolledBackError,
)
from pacsklearn.kernel.bounds.belief import update_belief
from pacsklearn.kernel.ledger.event import Bookkeeping, Event
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.secret.owner_process import OwnerProcess

NATS: Final = "nats"
SUCCESS: Final = "success at "


@final
class Secret:
    """The drawn candidate and the public belief about it. Drawn once, at the first release.

    Parameters
    ----------
    space : Space
        What it is drawn from; anything else with ``weights`` and ``draw`` will do.
    sampler : Sampler
        Draws the candidate and all noise.
    """

    def __init__(self, space: Any, sampler: Sampler) -> None:
        self._space = space
        self._index: Any = None
        self._owner = OwnerProcess("The secret")
        self.sampler = sampler
        self.log_prior = self.log_belief = _log_prior(space.weights)

    @property
    def index(self) -> Any:
        """The drawn candidate, by its number where there is a list; drawn now if it was not."""
        self._owner.check()
        # Kept for good: averages over releases of ever new candidates would show who is in.
        if self._index is None:
            self._index = self._space.draw(self.sampler)
        return self._index

    @property
    def belief(self) -> NDArray[np.float64]:
        """Posterior probabilities of the candidates given everything released so far."""
        return np.exp(self.log_belief)

    def learn(self, log_likelihood: NDArray[np.float64]) -> None:
        """Update the belief after one more release, by Bayes' rule."""
        # After a fork parent and child would each learn half of what is out, and charge too little.
        self._owner.check()
        self.log_belief = update_belief(self.log_belief, log_likelihood)

    def use(self, index: int, numbers: NDArray[np.int64]) -> None:
        """Take a candidate that was drawn elsewhere, before anything is released.

        ``numbers`` says which candidate each of the inputs given is.
        """
        self._owner.check()
        m = numbers.shape[0]
        if not is_whole(index) or not 0 <= index < m:
            raise ValueError(
                # The number is not quoted: messages end up in logs.
                f"secret must be the number of a candidate, an integer from 0 to {m - 1}; what was "
                "given is withheld."
            )
        self._index = int(numbers[index])

    def export(self) -> tuple[int, NDArray[np.float64]]:
        """Return the drawn candidate and belief, for a session file."""
        # Drawn now at the latest, or two copies of a file could draw two candidates.
        return self.index, self.log_belief

    def restore(self, index: int, log_belief: NDArray[np.float64]) -> None:
        """Take over what :meth:`export` gave."""
        self._index, self.log_belief = index, log_belief

    def __repr__(self) -> str:
        return "Secret(...)"


def _log_prior(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(weights / weights.sum()))


def opening_belief(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the belief that the first release of a session is calibrated to, to the last bit."""
    return np.exp(_log_prior(weights))


@final
class Account:
    """Both ledgers of a session: every charge must fit under both ceilings.

    Parameters
    ----------
    own : MemoryLedger
        Of this session alone.
    shared : Ledger or None
        Of the data set, across sessions and processes.
    session : str, optional
        Name of the session; a new one when not given.
    n_charged : int, default=0
        Events of the session that the shared ledger holds.
    announce : callable, optional
        Called once, before the first charge: it may warn, or refuse.

    Notes
    -----
    Under a cap the session's own account counts successes, which do not add up. The shared ledger
    counts nats all the same: what the law is certified to reveal.

    The n-th event of a session has the key ``"<session>/<n>"``. A ledger takes a key once, so of
    two copies of a session (one resumed from a file, the other never stopped) only one goes on.
    """

    def __init__(
        self,
        own: MemoryLedger,
        shared: Ledger | None,
        session: str | None = None,
        n_charged: int = 0,
        announce: Callable[[Account], None] | None = None,
    ) -> None:
        self.own = own
        self.shared = shared
        self.session = session or uuid.uuid4().hex
        self.n_charged = n_charged
        self._in_flight: Event | None = None
        self._announce = announce
        self.is_closed = False
        self.doubt: Callable[[], None] | None = None
        """Looks what became of answers whose storing was interrupted; None when none was."""
        self.home = OwnerProcess("The secret behind this session")

    @property
    def remaining(self) -> float:
        """What may still be charged, in the unit of the session's own account."""
        self.home.check()
        shared = float("inf") if self._is_capped or self.shared is None else self.shared.remaining
        return min(self.own.remaining, shared)

    @property
    def head(self) -> str:
        """Where the shared ledger stands, for a statement; empty where there is none."""
        return "" if self.shared is None else self.shared.head

    @property
    def _is_capped(self) -> bool:
        return self.own.unit.startswith(SUCCESS)

    def check(self, requested: float | None) -> float:
        """Return amount asked for (all that remains of the session's own when None), if it fits.

        Under a cap, how many nats that takes is known once a law is: whether they fit under the
        shared ledger's ceiling is asked when they are charged.

        Raises
        ------
        BudgetExhaustedError
            When they do not fit, or nothing remains.
        ForeignProcessError
            In a forked process.
        RuntimeError
            When the session is closed.
        """
        self._check_open()
        self.settle_answers()
        amount = self.own.remaining if requested is None else requested
        if amount == 0:
            raise BudgetExhaustedError(self.own.spent, amount, self.own.ceiling)
        self.own.check(amount)
        if self.shared is not None and not self._is_capped:
            self.shared.check(amount)
        return amount

    def charge(self, event: Event) -> Event:
        """Charge both ledgers, the shared one first: it alone can refuse for others' sake.

        Returns
        -------
        Event
            As it was charged, with its key.

        Raises
        ------
        BudgetExhaustedError
            When it does not fit under one of them; no answer may leave then.
        SessionRolledBackError
            When another copy of this session has been charged in the meantime.
        """
        self._check_open()
        if self.doubt is not None:
            # What is to be charged was computed under a belief that may be an older one.
            self.settle_answers()
            raise RuntimeError(
                "The storing of earlier answers was interrupted; what became of it is known now, "
                "and nothing was charged. Ask again."
            )
        self._settle()
        # Before the shared ledger is charged: a charge there cannot be taken back.
        self.own.check(event.charge)
        if self._announce is not None:
            # Before the charge as well: who makes an error of a warning has released nothing.
            self._announce(self)
            self._announce = None
        return self._next(event)

    def settle_answers(self) -> None:
        """Learn what became of answers whose storing was interrupted, if there are any."""
        doubt = self.doubt
        if doubt is not None:
            doubt()

    def resume(self) -> None:
        """Take the session over from whoever saved it, for nobody else to do so again.

        Raises
        ------
        SessionRolledBackError
            When anything was charged for this session since it was saved.
        """
        self._next(Bookkeeping("resumed", 0.0, self.own.unit), own=False)

    def _check_open(self) -> None:
        self.home.check()
        if self.is_closed:
            raise RuntimeError(
                "This session is closed: nothing more is released, answered or charged about its "
                "secret; only stored answers, and those on which all candidates agree, can still "
                "be given. Release and ask before you leave its with block."
            )

    def _next(self, event: Event, *, own: bool = True) -> Event:
        self.home.check()
        # Numbered by what this copy of the session has charged: a second copy comes to the same
        # number, and a ledger takes it once.
        event = replace(event, key=f"{self.session}/{self.n_charged}")
        # Ctrl-C may come at any moment from here on: whoever charges next looks what became of it.
        self._in_flight = event if own else None
        try:
            is_new = self.shared is None or self.shared.charge(_in_nats(event))
        except LedgerMismatchError:
            self._in_flight = None
            if not self._is_charged(event):
                raise
            is_new = False
        except LedgerUnknownError:
            raise  # it stays in flight: whoever charges next finds out
        except PacsklearnError:
            self._in_flight = None
            raise
        if not is_new:
            self._in_flight = None
            raise SessionRolledBackError(_MOVED_ON)
        self._charged(event, own=own)
        return event

    def _settle(self) -> None:
        """Count an event whose charge was interrupted, if the shared ledger has taken it.

        Its answer never left, but a charge stays a charge; nobody else uses this session's keys
        without having resumed it, and that leaves another event under the same key.
        """
        event = self._in_flight
        if event is None:
            return
        self.home.check()
        if self._is_charged(event):
            try:
                # A replay, unless it is another event.
                if self.shared is None:
                    self.own.charge(event)
                else:
                    self.shared.charge(_in_nats(event))
            except LedgerMismatchError:
                raise SessionRolledBackError(_MOVED_ON) from None
            self._charged(event)
        self._in_flight = None

    def _is_charged(self, event: Event) -> bool:
        return (self.own if self.shared is None else self.shared).find(event.key) is not None

    def _charged(self, event: Event, *, own: bool = True) -> None:
        if own:
            self.own.charge(event)
        self.n_charged = int(event.key.rpartition("/")[2]) + 1
        self._in_flight = None


_MOVED_ON = (
    "The ledger has moved on: this session was charged or resumed elsewhere after the state it has "
    "here. Go on with that copy, or begin a new session: going on from here would spend the same "
    "budget a second time."
)


def _in_nats(event: Event) -> Event:
    """Return the event as a ledger of nats is charged for it."""
    if not event.unit.startswith(SUCCESS):
        return event
    # A success cannot be added to what others spent; the information that the law is certified to
    # reveal can.
    return replace(event, charge=event.bound, unit=NATS)
