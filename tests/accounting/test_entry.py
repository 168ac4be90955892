"""Texts that digests are taken of: written by hand, and those of a JSON encoder to the byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacsklearn.accounting.entry import Entry, event_from_text, event_text, is_sound
from pacsklearn.core.event import Event, Provenance, QueryAnswers

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.floats(0, allow_infinity=False)
COUNTS = st.integers(0, 2**63 - 1)
PLUGINS = st.lists(st.builds(Provenance, TEXTS, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple)
EVENTS = st.builds(
    Event, TEXTS, NUMBERS, TEXTS, TEXTS, NUMBERS, COUNTS, COUNTS, COUNTS, PLUGINS, NUMBERS, TEXTS
)
ENTRIES = st.builds(
    Entry, TEXTS, COUNTS, TEXTS, TEXTS, TEXTS, st.floats(allow_nan=False, allow_infinity=False),
    *[TEXTS] * 6, hash=st.just(""), user_id=st.none() | TEXTS, project_id=st.none() | TEXTS,
    expires=st.none() | TEXTS,
)  # fmt: skip


def canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@given(EVENTS)
def test_an_event(event: Event) -> None:
    assert event_text(event) == canonical(event.to_dict())
    assert event_from_text(event_text(event)) == event


def test_an_event_with_a_mechanism(make_event: Callable[..., Event]) -> None:
    event = make_event(mechanism=QueryAnswers("labels", 0.5, 3))
    assert event_text(event) == canonical(event.to_dict())
    assert '"mechanism":{' in event_text(event)


@given(ENTRIES)
def test_a_row(entry: Entry) -> None:
    optional = ("user_id", "project_id", "expires")
    given = entry._asdict().items()
    facts = {name: each for name, each in given if each is not None or name not in optional}
    del facts["hash"]
    assert entry.content() == canonical(facts)
    assert entry.digest() == hashlib.sha256(canonical(facts).encode()).hexdigest()
    assert is_sound(entry._replace(hash=entry.digest()))


@pytest.mark.parametrize(
    "change", [{"sequence": "1"}, {"charge": "0.5"}, {"charge": 1}, {"note": b""}, {"unit": None}]
)
def test_a_value_of_another_type_is_never_sound(change: dict[str, Any]) -> None:
    entry = Entry("d", 1, "", "k", "responses", 1.0, "nats", "{}", "", "1", "", "")
    entry = entry._replace(hash=entry.digest())
    assert is_sound(entry)
    assert not is_sound(entry._replace(**change))
