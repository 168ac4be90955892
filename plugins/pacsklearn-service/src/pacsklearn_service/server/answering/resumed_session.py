"""A model's session, taken over from whoever answered before."""

from __future__ import annotations

import numpy as np

from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.session_state import SessionState
from pacsklearn.estimators.stored_session import caught_up
from pacsklearn.exceptions import LedgerCorruptedError, SessionRolledBackError
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn_service.server.answering.batch import Batch, Learned
from pacsklearn_service.server.answering.records import Records
from pacsklearn_service.server.store.database import ServiceDatabase


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
