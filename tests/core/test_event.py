"""Events: frozen facts, each with its own key."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest

from pacsklearn.core.event import Event, Provenance


def test_an_event_is_frozen_and_has_its_own_key(make_event: Callable[..., Event]) -> None:
    first, second = make_event(), make_event()
    assert first.key != second.key
    assert dataclasses.replace(first, key=second.key) == second
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.charge = 0.0  # type: ignore[misc]


def test_an_event_is_plain_json(make_event: Callable[..., Event]) -> None:
    event = make_event(provenance=(Provenance("eigen", "a.b:C", "pacsklearn", "0.1"),))
    facts = json.loads(json.dumps(event.to_dict()))
    provenance = tuple(Provenance(**entry) for entry in facts.pop("provenance"))
    assert Event(provenance=provenance, **facts) == event
