"""What an attack has to know and no user can ask: the one place where tests look inside."""

from __future__ import annotations

from typing import Any

from pacsklearn import PrivacySession
from pacsklearn.kernel.answers.responder import Responder


def secret_of(session: PrivacySession) -> Any:
    """Which candidate is the secret one, and what was learnt about it."""
    return session._secret


def account_of(session: PrivacySession) -> Any:
    """What charges a session's releases to its ledger."""
    return session._account


def procedure_of(session: PrivacySession) -> Any:
    """What a session's releases go through."""
    return session._procedure


def responders_of(session: PrivacySession) -> Any:
    """Every responder of a session, by its request."""
    return session._responders


def answer_table_of(session: PrivacySession) -> Any:
    """Answers of a session that its ledger holds."""
    return session._answer_table


def candidates_of(responder: Responder) -> Any:
    """Models of all candidates that a responder asks."""
    return responder.models


def answers_of(responder: Responder) -> Any:
    """Answers that a responder has given."""
    return responder.store


def noise_of(drawing: Any) -> Any:
    """Pool that responders, or a run, take their noise from."""
    return drawing._pool


def is_drawn(secret: Any) -> bool:
    """Whether anybody has asked which candidate it is."""
    return secret._index is not None


def in_flight_of(account: Any) -> Any:
    """Event whose charge was begun and may not have ended."""
    return account._in_flight


def name_in_ledger_of(answers: Any) -> str:
    """Under which name a ledger holds these answers."""
    return str(answers._responder)


def requests_of(responders: Any) -> list[str]:
    """Names of the requests whose responders a session keeps."""
    return list(responders._responders)


def forget_held(answers: Any) -> None:
    """Let a table of answers forget what it has read of its ledger."""
    answers._held.clear()


def locks_of(owner: Any) -> list[Any]:
    """Locks of a session and its ledger, or of a pool of noise."""
    if isinstance(owner, PrivacySession):
        return [owner._one_at_a_time, owner.ledger._store._lock]  # type: ignore[attr-defined]
    return [owner._guard, owner._state._changed]


def handle_of(model: Any) -> Any:
    """What a pickle of an estimator that answers finds its responder by."""
    return model._answering._handle


def record_of(model: Any) -> Any:
    """What a run of gradient descent remembers of its steps."""
    return model._record
