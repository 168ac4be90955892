"""What a session caps and may still spend: its own ceiling, and a shared ledger's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, final

from pacsklearn._validation import check_budget
from pacsklearn.core.accounts import bookkeeping_event
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.event import Event
from pacsklearn.core.home_process import HomeProcess
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    LedgerMismatchError,
    PacsklearnError,
    SessionRolledBackError,
    TableError,
)
from pacsklearn.plugin import registry
from pacsklearn.tables.hashed_space import HashedSpace, Space


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

    Notes
    -----
    The n-th event of a session has the key ``"<session>/<n>"``. A ledger takes a key once, so of
    two copies of a session (one resumed from a file, the other never stopped) only one goes on.
    """

    def __init__(
        self,
        own: MemoryLedger,
        shared: Ledger | None,
        session: str | None = None,
        n_charged: int = 0,
    ) -> None:
        self.own = own
        self.shared = shared
        self.session = session or uuid.uuid4().hex
        self.n_charged = n_charged
        self._in_flight: Event | None = None
        self.is_closed = False
        self.doubt: Callable[[], None] | None = None
        """Looks what became of answers whose storing was interrupted; None when none was."""
        self.home = HomeProcess("The secret behind this session")

    @property
    def remaining(self) -> float:
        """Nats that may still be charged."""
        self.home.check()
        shared = float("inf") if self.shared is None else self.shared.remaining
        return min(self.own.remaining, shared)

    @contextmanager
    def through(self, shared: Ledger | None) -> Iterator[None]:
        """Charge a reservation of the shared ledger in the block; None changes nothing."""
        before = self.shared
        self.shared = shared or before
        try:
            yield
        finally:
            self.shared = before

    def check(self, requested: float | None) -> float:
        """Nats asked for (all that remains of the session's own when None), if they fit.

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
        amount = self.own.remaining if requested is None else check_budget(budget=requested)
        if amount == 0:
            raise BudgetExhaustedError(self.own.spent, amount, self.own.ceiling)
        self.own.check(amount)
        if self.shared is not None:
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
        self._next(bookkeeping_event("resumed", 0.0, self.own.unit, ""), own=False)

    def _check_open(self) -> None:
        self.home.check()
        if self.is_closed:
            raise RuntimeError(
                "This session is closed: nothing more is released or charged about its secret. "
                "Release before you leave its with block."
            )

    def _next(self, event: Event, *, own: bool = True) -> Event:
        self.home.check()
        event = replace(event, key=f"{self.session}/{self.n_charged}")
        # Ctrl-C may come at any moment from here on: whoever charges next looks what became of it.
        self._in_flight = event if own else None
        try:
            is_new = self.shared is None or self.shared.charge(event)
        except LedgerMismatchError:
            self._in_flight = None
            if not self._is_charged(event):
                raise
            is_new = False
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
                (self.own if self.shared is None else self.shared).charge(
                    event
                )  # a replay, unless it is another event
            except LedgerMismatchError:
                raise SessionRolledBackError(_MOVED_ON) from None
            self._charged(event)
        self._in_flight = None

    def _is_charged(self, event: Event) -> bool:
        ledger = self.own if self.shared is None else self.shared
        return ledger.find(event.key) is not None

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


def open_shared(ledger: str | Ledger | None, ceiling: float, unit: str = "nats") -> Ledger | None:
    """Ledger that a user named, or None."""
    if ledger is None:
        return None
    from pacsklearn.accounting.open_ledger import open_ledger  # loads the database's client

    return open_ledger(ledger, ceiling=ceiling, unit=unit)


def as_criterion(value: Any, space: Space) -> Criterion | None:
    """Criterion from a user's argument.

    Parameters
    ----------
    value : None, str, Criterion or callable
        A registered name (``"membership"``, ``"identification"``, ``"35_of_n"``), an instance, or
        a callable that makes one for a secret space.
    space : SecretSpace, CandidateSpace or HashedSpace
    """
    if value is None:
        return None
    if isinstance(space, HashedSpace):
        raise TableError(
            "criterion must be None for a Table: it is certified over all rows, which pass one by "
            "one. State a budget in nats."
        )
    if isinstance(value, Criterion):
        return value
    if isinstance(value, str):
        return registry().criterion(value, space)
    if callable(value) and not isinstance(value, type):
        made = value(space)
        if isinstance(made, Criterion):
            return made
        raise TypeError(
            f"criterion must return a Criterion for a secret space, got {type(made).__name__}."
        )
    raise ValueError(
        f"criterion must be None, one of {', '.join(map(repr, registry().names('criterion')))} "
        "('35_of_n' is 'k_of_n' with a number for k), a Criterion, or a callable that makes one "
        f"for a secret space, got {value!r}."
    )


def check_cap(
    criterion: Criterion | None,
    cap: float,
    space: Space,
    *,
    allow_exact: bool = False,
) -> None:
    """Refuse a cap that guessing blindly passes, or that caps nothing.

    Raises
    ------
    BudgetError
    """
    if criterion is None:
        if cap >= space.entropy and not allow_exact:
            raise BudgetError(
                f"budget={cap:.6g} nats covers the whole secret: {space.n_candidates} candidates "
                f"have an entropy of {space.entropy:.6g} nats, so nothing would be hidden, and "
                "results published as they are. Give less, for instance budget=1/16, or "
                "allow_exact=True if that is what you want."
            )
        return
    blind = float(criterion.prior(space.weights).max())
    # At or below the blind success no noise is enough; the comparison refuses NaN as well.
    if not blind < cap < 1:
        raise BudgetError(
            f"budget={cap!r} caps the adversary's success at criterion {criterion.name!r}, where "
            f"guessing blindly has {blind:.6g}; give a cap between that and 1, for instance "
            f"budget={(1 + 9 * blind) / 10:.3g}."
        )


def ledger_unit(criterion: Criterion | None) -> str:
    """What a session's ledger counts."""
    return "nats" if criterion is None else f"success at {criterion.name}"
