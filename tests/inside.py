"""What an attack has to know and no user can ask: the one place where tests look inside."""

from __future__ import annotations

from typing import Any

import pytest

from pacsklearn import PrivacySession
from pacsklearn.estimators.released_tables import RELEASED
from pacsklearn.estimators.responders import Responders
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.noise.sampler import NoisePool


def secret_of(asked: PrivacySession | Responder) -> Any:
    """Which candidate is the secret one, and what was learnt about it."""
    return asked._secret


def account_of(session: PrivacySession) -> Any:
    """What charges a session's releases to its ledger."""
    return session._account


def procedure_of(session: PrivacySession) -> Any:
    """What a session's releases go through."""
    return session._procedure


def responders_of(session: PrivacySession) -> Any:
    """Every responder of a session, by its request."""
    return session._responders


def keep_responders(session: PrivacySession, responders: Responders) -> None:
    """Let a session answer with other responders than those it opened."""
    session._open_responders = responders


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


def forget_releases(patch: pytest.MonkeyPatch) -> None:
    """Let this process forget, for a test, which tables it has released about."""
    patch.setattr(RELEASED, "_caps", {})
    patch.setattr(RELEASED, "_warned", set())


def miss_forks(patch: pytest.MonkeyPatch) -> None:
    """Let pools of noise miss their forks, as those from compiled code."""
    patch.setattr(NoisePool, "_forked", lambda self: None)


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
