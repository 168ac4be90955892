"""Texts that digests are taken of: those of a JSON encoder to the byte, and back."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacsklearn.exceptions import LedgerCorruptedError
from pacsklearn.kernel.ledger.accounts import Posting
from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance, QueryAnswers
from pacsklearn.kernel.ledger.exact_sum import exact, exact_of, exact_text
from pacsklearn.kernel.ledger.row import (
    Row,
    posting_facts,
    posting_of,
    row_of,
)
from tests.kernel.recorded_cap import recorded_step

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.floats(0, allow_infinity=False)
COUNTS = st.integers(0, 2**63 - 1)
PLUGINS = st.lists(st.builds(Provenance, TEXTS, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple)
EVENTS = st.builds(
    LatticeNoise,
    TEXTS,
    NUMBERS,
    TEXTS,
    TEXTS,
    NUMBERS,
    COUNTS,
    COUNTS,
    COUNTS,
    PLUGINS,
    NUMBERS,
    TEXTS,
)
MAYBE = st.none() | TEXTS
POSTINGS = st.builds(Posting, TEXTS, EVENTS, TEXTS, MAYBE, MAYBE, MAYBE)


@pytest.mark.parametrize(
    "event",
    [
        QueryAnswers("responses", 0.5, "nats", n_noisy=3, answers="labels", step_budget=0.5),
        recorded_step(log_law=(-0.1, None)),
    ],
)
def test_an_event_with_what_prices_it(event: Event) -> None:
    row = row_of("d", 1, event.key, "", posting_facts(Posting("", event)))
    assert f'"type":"{event.name}"' in row.line
    assert posting_of(row.facts()).event == event


@given(TEXTS, POSTINGS)
def test_a_row(dataset: str, posting: Posting) -> None:
    row = row_of(dataset, 7, posting.event.key, "0" * 64, posting_facts(posting))
    facts = json.loads(row.line)
    assert facts == row.facts()
    assert (facts["dataset"], facts["number"], facts["previous"]) == (dataset, 7, "0" * 64)
    assert posting_of(facts) == posting
    content = row.line.rpartition(',"hash":')[0]
    assert row.hash == facts["hash"] == hashlib.sha256(content.encode()).hexdigest()
    assert (
        row_of(dataset, 7, None, "", {"x": 1}).hash != row_of(dataset, 7, None, "", {"x": 1}).hash
    )


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
def test_a_sum_comes_back_exactly(charges: list[float]) -> None:
    total = sum(map(exact, charges))
    assert exact_of(exact_text(total)) == total


@pytest.mark.parametrize("text", ["", "1/0", "2/4", "x", "1/3", "1.5"])
def test_what_is_no_sum(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        exact_of(text)


@pytest.mark.parametrize(
    "change", [{"number": "1"}, {"dataset": "e"}, {"key": None}, {"line": b"{}"}, {"line": ""}]
)
def test_a_value_of_another_type_is_never_sound(change: dict[str, Any]) -> None:
    row: Row = row_of("d", 1, "k", "", {"x": 1})
    assert row.facts()["x"] == 1
    with pytest.raises(LedgerCorruptedError):
        row._replace(**change).facts()
