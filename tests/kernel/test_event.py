"""Events: frozen facts, each with its own key."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from pacsklearn.estimators.session_document import event_of
from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.kernel.ledger.event import (
    Bookkeeping,
    Event,
    LatticeNoise,
    Provenance,
    QueryAnswers,
    ledger_text,
)
from pacsklearn.kernel.ledger.row import event_class
from pacsklearn.srpp.release.events import GradientSteps, SlicedNoise


def test_an_event_is_frozen_and_has_its_own_key(make_event: Callable[..., Event]) -> None:
    first, second = make_event(), make_event()
    assert first.key != second.key
    assert dataclasses.replace(first, key=second.key) == second
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.charge = 0.0  # type: ignore[misc]


def test_an_event_is_plain_json(make_event: Callable[..., Event]) -> None:
    event = make_event(provenance=(Provenance("eigen", "a.b:C", "pacsklearn", "0.1"),))
    assert event_of(json.loads(json.dumps(event.to_dict()))) == event


CHARGED = {"charge": 0.5, "unit": "nats", "n_outputs": 5}
KINDS = [
    LatticeNoise("parameters", **CHARGED),
    Bookkeeping("reservation", 0.5, "nats"),
    QueryAnswers("responses", **CHARGED, answers="labels", step_budget=2.0**-20),
    SlicedNoise(
        "sliced", **CHARGED, aggregation="joint", order=8.0, average=0.1, joint=0.2,
        worst_slice=0.3, full=0.4,
    ),
    GradientSteps(
        "sgd-step", **CHARGED, n_steps=3, noise_multiplier=1.5, order=16.0,
        accounting="secret-batches", n_rows=100, batch_size=10, sampling="poisson", largest=1,
        second_moment=0.25, log_law=(-0.1, None), tail=0.0, failure=0.0, mean_over_data=False,
        norms=(1.0, 2.0), sizes=(3, 4),
    ),
]  # fmt: skip


@pytest.mark.parametrize("event", KINDS, ids=lambda event: event.name)
def test_every_kind_survives_json(event: Event) -> None:
    found = event_of(json.loads(json.dumps(event.to_dict())))
    assert (found, type(found)) == (event, type(event))
    assert event_class(event.name) is type(event)


@pytest.mark.parametrize("step_budget", [math.nan, {1.0}, None])
def test_the_numbers_that_price_an_event_are_checked(step_budget: object) -> None:
    with pytest.raises(LedgerMismatchError, match="step_budget"):
        QueryAnswers("responses", **CHARGED, answers="labels", step_budget=step_budget)
    with pytest.raises(LedgerMismatchError, match="norms"):
        dataclasses.replace(KINDS[-1], norms=(step_budget,))


class Shouted(str):
    """Prints as something else than it holds."""

    __slots__ = ()

    def __str__(self) -> str:
        return "LOUD"


@pytest.mark.parametrize("text", ["", "plain", "x" * 20, "\u00e9" * 10])
def test_a_text_is_stored_as_it_is_also_when_it_prints_as_something_else(text: str) -> None:
    for given in (text, Shouted(text)):
        found = ledger_text("note", given, 20)
        assert type(found) is str
        assert found == text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "value"),
        (b"bytes", "bytes"),
        ("x" * 21, "bytes"),
        ("\u00e9" * 11, "bytes"),
        ("a\0b", "character"),
        ("a\ud800", "surrogate"),
    ],
)
def test_what_a_database_would_change_is_no_text(value: object, message: str) -> None:
    for given in (value, Shouted(value)) if isinstance(value, str) else (value,):
        with pytest.raises(LedgerMismatchError, match=message):
            ledger_text("note", given, 20)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, np.float32, Fraction, int, float])
def test_numbers_of_other_types_become_python_s(
    make_event: Callable[..., Event], kind: Callable[[int], object]
) -> None:
    """An event is the same before and after a database."""
    event = make_event(charge=kind(3), bound=kind(3), confidence=kind(1))
    assert (event.charge, event.bound, event.confidence) == (3.0, 3.0, 1.0)
    assert {type(each) for each in (event.charge, event.bound, event.confidence)} == {float}
    if not isinstance(kind(3), float | np.floating | Fraction):
        event = make_event(n_candidates=kind(3), n_outputs=kind(0), n_noisy=kind(1))
        assert (event.n_candidates, event.n_outputs, event.n_noisy) == (3, 0, 1)
        assert {type(each) for each in (event.n_candidates, event.n_outputs)} == {int}
    assert math.copysign(1, make_event(charge=-0.0).charge) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: bad} for name in ("charge", "bound", "confidence") for bad in (
            True, "1", None, math.nan, math.inf, -math.inf, np.float32("inf"), 10**400, 1j
        )),
        *({name: bad} for name in ("n_candidates", "n_outputs", "n_noisy") for bad in (
            True, np.True_, 1.0, np.float64(1), "1", None, -1, np.int64(-1), 2**63
        )),
        *({name: bad} for name in ("kind", "unit", "backend", "key") for bad in (3, None, b"k")),
        *({"provenance": bad} for bad in (None, "plugin", ("plugin",), [{}])),
    ],
)  # fmt: skip
def test_what_no_event_can_hold_is_refused_by_name(
    make_event: Callable[..., Event], wrong: dict[str, object]
) -> None:
    (name,) = wrong
    with pytest.raises(LedgerMismatchError, match=f"^{name} "):
        make_event(**wrong)
    make_event(n_candidates=2**63 - 1, n_outputs=0)


def test_only_answers_depend_on_one_another(make_event: Callable[..., Event]) -> None:
    assert [event.name for event in KINDS if event.is_adaptive] == ["query-answers"]
    plugin = Provenance("eigen", "a.b:C", "pacsklearn", "0.1")
    assert make_event(provenance=[plugin]).provenance == (plugin,)
