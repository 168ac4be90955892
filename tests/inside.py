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
