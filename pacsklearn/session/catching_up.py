"""A session's state brought to what its ledger says, for a process that takes over from another."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.event import Event
from pacsklearn.core.ledger import Ledger
from pacsklearn.exceptions import SessionRolledBackError
from pacsklearn.session.session_file import SessionState, check_ledger


@final
class CaughtUp:
    """State to resume, and what the ledger holds for its session.

    Parameters
    ----------
    state : SessionState
    charged : frozenset of int
        Numbers of the session's events that were charges.
    """

    def __init__(self, state: SessionState, charged: frozenset[int]) -> None:
        self.state, self.charged = state, charged


def caught_up(
    state: SessionState, ledger: Ledger, log_belief: NDArray[np.float64] | None
) -> CaughtUp:
    """Count what was charged since the state was taken, and take over the belief of then.

    Parameters
    ----------
    state : SessionState
        Taken when the session began.
    ledger : Ledger
        The session's.
    log_belief : ndarray of shape (m,) or None
        After the last answer that was stored; None when none was. A charge whose answer was never
        stored has told nobody anything: it stays charged, and the belief is that before it.

    Raises
    ------
    SessionRolledBackError
        When the ledger does not hold all that it held when the state was taken.
    """
    account = check_ledger(ledger, state)
    events: list[Event] = list(state.events)
    known = {event.key for event in events}
    here = {event.key: event for event in account.events}
    numbers, n_charged = [], 0
    while True:
        key = f"{state.session}/{n_charged}"
        # What a reservation paid for stands in another account of the same ledger.
        event = here.get(key) or account.find(key)
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
            ledger=account,
            drawn=(index, belief if log_belief is None else log_belief),
        ),
        frozenset(numbers),
    )


def answers_only(state: SessionState, ledger: Ledger) -> SessionState:
    """State with what was charged since it was taken, when answers in the ledger are all of it.

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
