"""Everything that a session is, and the ledger it goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.responders import Responders
from pacsklearn.estimators.stored_answers import ResponderState
from pacsklearn.exceptions import LedgerError, SessionRolledBackError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.outputs.models import CandidateModels
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace

if TYPE_CHECKING:
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

_FILE: Final = "sqlite:"


@final
@dataclass(frozen=True, eq=False)
class SessionState:
    """Everything that a session is; secret material.

    Parameters
    ----------
    X, y : arrays
        The universe.
    space : SecretSpace or CandidateSpace
    generator : Generator or None
        Of reproducible noise, which goes on where it was; None for the operating system's.
    drawn : (int, ndarray)
        Secret candidate, and log-belief.
    ceiling : float
    events : tuple of Event
        Of the session's own ledger.
    session : str
        Its name in the shared ledger.
    n_charged : int
        Events the shared ledger holds for it.
    ledger : mapping
        Of the shared one: ``uri`` where it is a file's, else empty; ``dataset``, ``user`` and
        ``project``.
    position : Position
        Of the shared ledger.
    models : mapping
        Fitted candidates by name.
    responders : mapping
        What each remembers.
    certificate : tuple
        Certified figure of what was released first, and how many releases shared a charge.
    options : mapping
        How candidates are fitted, the budget, and the key of answers in the ledger.
    """

    X: Any = field(repr=False)
    y: Any = field(repr=False)
    space: SecretSpace | CandidateSpace
    generator: np.random.Generator | None = field(repr=False)
    drawn: tuple[int, NDArray[np.float64]] = field(repr=False)
    ceiling: float
    events: tuple[Event, ...]
    session: str
    n_charged: int
    ledger: Mapping[str, str | None]
    position: Any
    models: Mapping[str, CandidateModels] = field(repr=False)
    responders: Mapping[str, ResponderState] = field(repr=False)
    certificate: tuple[tuple[float, float] | None, int]
    options: Mapping[str, Any]


def shared_ledger(shared: Ledger | None, own: Ledger, session: str) -> SharedLedger:
    """Return the ledger that a session can be saved with.

    Raises
    ------
    LedgerError
        When nothing would notice that a file is used twice.
    """
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

    if not isinstance(shared, SharedLedger):
        raise LedgerError(
            "A session can be saved only when it is charged to a ledger in a database, which "
            "notices a file that is loaded twice: make it with "
            "PrivacySession(..., ledger='sqlite:///path') (a reservation will not do)."
        )
    # A reservation is charged under its own keys, which a loaded session would not find.
    if any(not event.key.startswith(f"{session}/") for event in own.events):
        raise LedgerError(
            "A session whose own account holds reservations cannot be saved; reserve from the "
            "shared ledger."
        )
    return shared


def check_ledger(ledger: str | Ledger | None, state: SessionState) -> Ledger:
    """Return the ledger to go on with: the one the session was saved with, wherever it is now.

    Raises
    ------
    SessionRolledBackError
        When it does not hold all that it held then.
    """
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
    from pacsklearn.universe.open_ledger import open_ledger
    from pacsklearn.upkeep.verification import is_ahead_of

    if ledger is None and not state.ledger["uri"]:
        raise LedgerError(
            "ledger must be given: a file without a key, and one whose ledger is on a server, "
            "opens none by itself. PrivacySession.load(path, ledger='sqlite:///path') names it."
        )
    place = state.ledger["uri"] if ledger is None else ledger
    dataset = str(state.ledger["dataset"])
    try:
        attached = open_ledger(place, ceiling=None, dataset=dataset)
        is_ahead = isinstance(attached, SharedLedger) and is_ahead_of(attached, state.position)
    except LedgerError as error:
        raise LedgerError(
            f"The ledger of this session is not at {place} any more ({error}) If it was "
            "moved, say where it is: PrivacySession.load(path, ledger='sqlite:///path')."
        ) from None
    if not isinstance(attached, SharedLedger):
        raise LedgerError(
            "ledger must be the ledger in a database that the session was saved with, got "
            f"{type(attached).__name__}."
        )
    if not is_ahead:
        raise SessionRolledBackError(
            "The ledger does not hold what it held when the session was saved: it is an older "
            "copy, or another ledger. Give the one in use with ledger='sqlite:///path'."
        )
    return attached.on_behalf_of(user=state.ledger["user"], project=state.ledger["project"])


def session_state(
    X: Any, y: Any, procedure: ReleaseProcedure, responders: Responders, options: Mapping[str, Any]
) -> SessionState:
    """Return the state of a session as it is now; its lock is held.

    Raises
    ------
    LedgerError
        When it has no ledger in a database.
    """
    account, terms = procedure.account, procedure.terms
    shared = shared_ledger(account.shared, account.own, account.session)
    models, remembered = responders.export()
    return SessionState(
        X=X,
        y=y,
        space=terms.space.listed(),
        generator=procedure.secret.sampler.generator,
        drawn=procedure.secret.export(),
        ceiling=account.own.ceiling,
        events=account.own.events,
        session=account.session,
        n_charged=account.n_charged,
        ledger={
            # Whoever loads a file connects to no host that the file names.
            "uri": shared.uri if shared.uri.startswith(_FILE) else "",
            "dataset": shared.dataset,
            "user": shared.user,
            "project": shared.project,
        },
        position=shared.position,
        models=models,
        responders=remembered,
        certificate=procedure.certificate.export(),
        options=dict(options),
    )
