"""A model's session, taken over from whoever answered before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.session_state import SessionState
from pacsklearn.estimators.stored_session import caught_up
from pacsklearn.exceptions import LedgerCorruptedError, SessionRolledBackError
from pacsklearn.kernel.answers.answered_rows import AnswerLaw
from pacsklearn.kernel.ledger.exact_sum import exact, largest_refund, nearest
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn_service.server.answering.batch import Batch, Learned
from pacsklearn_service.server.answering.records import Records
from pacsklearn_service.server.store.database import ServiceDatabase

Charged: TypeAlias = Mapping[str, tuple[int, float]]
"""How many charges of each session a ledger holds, and their sum."""
_AT_ONCE: Final = 10_000


class Standing(NamedTuple):
    """Where a session stands: what it was charged, its ceiling and its belief."""

    spent: float
    ceiling: float
    log_belief: NDArray[np.float64]

    def rows_left(self, step_budget: float, remaining: float) -> int:
        """Return the contested rows that the session, and what its data set has left, can bear."""
        left = min(largest_refund(self.ceiling, exact(self.spent)), remaining)
        most = int((self.ceiling - self.spent) / step_budget)
        if AnswerLaw.of(most, step_budget, self.log_belief).bound <= left:
            return most
        return bisect_right(range(1, most + 1), left, key=lambda n: n * step_budget)


def charges_by_session(ledger: Any) -> Charged:
    """Read what the ledger of a data set holds, once for all of its sessions."""
    counts: dict[str, int] = {}
    sums: dict[str, int] = {}
    row = 0
    while rows := ledger.charges(row, _AT_ONCE):
        for row, event in rows:  # noqa: B007 - the last one is gone on from
            if event.kind != "resumed":  # numbered like a charge, and none
                session = event.key.rpartition("/")[0]
                counts[session] = counts.get(session, 0) + 1
                sums[session] = sums.get(session, 0) + exact(event.charge)
    return {session: (count, nearest(sums[session])) for session, count in counts.items()}


def resumed(
    database: ServiceDatabase, records: Records, dataset: str, token: int, state: SessionState
) -> tuple[PrivacySession, int, Learned | None, Batch | None, bool]:
    """Take a session over, where whoever had it before has stopped.

    Returns
    -------
    session : PrivacySession
    charged : int
        Events that were charges, without a batch that is pending.
    learned : Learned or None
    pending : Batch or None
        Written down and not finished.
    is_charged : bool
        Whether it was charged.

    Raises
    ------
    FencedError
        When this process does not lead the data set: to resume a session takes it from who has it.
    LedgerCorruptedError
        When the ledger holds other charges than what was stored of the answers.
    SessionRolledBackError
        When the ledger is an older copy.
    """
    ledger = open_ledger(database.address, ceiling=None, dataset=dataset)
    counted = -1
    while True:
        with database.reading() as connection:
            database.check_lease(connection, dataset, token)
            learned, pending = records.progress(connection)
        now = caught_up(state, ledger, None if learned is None else np.asarray(learned.belief))
        is_charged = pending is not None and pending.event in now.charged
        charged = len(now.charged) - is_charged
        stored = len(state.events) if learned is None else learned.charged
        if stored != charged:
            raise LedgerCorruptedError(
                0,
                f"holds {charged} charges for the answers of {records.model!r}, and the service "
                f"has stored those of {stored}: one of them is an older copy",
            )
        try:
            session = PrivacySession.resume(now.state, ledger=ledger)
            return session, charged, learned, pending, is_charged
        except SessionRolledBackError:
            # A charge of whoever had the lease may show only now: it stood in the high-water file
            # alone when that process was killed, or was on its way to the ledger. All is looked at
            # again while there is more to count; in an older copy there is not.
            if now.state.n_charged <= counted:
                raise
            counted = now.state.n_charged
