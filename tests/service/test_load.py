"""A ceiling under load: exactly what fits is charged, and everything granted is stored."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pacsklearn.service.batch import Outcome
from pacsklearn.service.problem import Problem
from tests.service.house import House, contested_rows


def load(new_house: Any, *, requests: int, keys: int, granted: int, address: str | None) -> None:
    """``keys`` callers ask ``requests`` rows of a ceiling for exactly ``granted`` of them."""
    step = 2.0**-14
    house: House = new_house(ceiling=granted * step, step=step, address=address,
                             requests_per_minute=1e9)  # fmt: skip
    callers = [house.user(f"u{i}") for i in range(keys)]
    rows = contested_rows(requests, seed=5)

    def ask(i: int) -> dict[str, Any] | Problem:
        try:
            return house.ask(callers[i % keys], rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
        except Problem as problem:
            return problem

    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(ask, range(requests)))
    answers = {i: each for i, each in enumerate(replies) if isinstance(each, dict)}
    refused = [each for each in replies if isinstance(each, Problem)]
    assert len(answers) == granted
    assert {each.kind for each in refused} == {"budget-exhausted"}
    assert {each["charged"] for each in answers.values()} == {step}
    assert house.spent == granted * step
    assert len(house.coordinator.hosted("risk").book) == granted
    # A replay is the same reply, byte for byte, and costs nothing.
    for i in list(answers)[:: max(1, granted // 50)]:
        again = house.ask(callers[i % keys], rows[i : i + 1], key=f"k{i}", body=b"%d" % i)
        assert json.dumps(again) == json.dumps(answers[i])
    assert house.spent == granted * step
    # What the database says is what was told: a new process reads it, and answers the same.
    house.close()
    heir: House = new_house(found=False, address=address, requests_per_minute=1e9)
    assert heir.coordinator.wait_until_ready(60)
    for i in list(answers)[:: max(1, granted // 50)]:
        again = heir.ask(callers[i % keys], rows[i : i + 1])
        assert again["outputs"] == answers[i]["outputs"]
        assert again["charged"] == 0
    assert heir.spent == granted * step
    heir.coordinator.catalog.ledger("clinic").verify()


def test_a_ceiling_for_exactly_fifty(new_house: Any) -> None:
    load(new_house, requests=150, keys=20, granted=50, address=None)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_ceiling_for_exactly_a_thousand(new_house: Any) -> None:
    size = 10 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 1
    load(new_house, requests=10_000 // size, keys=200, granted=1_000 // size, address=None)


def test_an_outcome_survives_its_own_text() -> None:
    values = [np.float64(0.1), np.asarray([1 / 3, 2 / 3]), 3]
    from pacsklearn.service.answer_book import Answer

    answers = [Answer(value, margin, contested=True) for value, margin in
               zip(values, (float("inf"), float("-inf"), 1e-300), strict=True)]  # fmt: skip
    outcome = Outcome([b"1" * 16] * 3, answers, {"a": [b"1" * 16]}, [float("-inf"), 0.1], (1, 2))
    again = Outcome.from_bytes(outcome.to_bytes())
    assert [each.value for each in again.answers] == [0.1, [1 / 3, 2 / 3], 3]
    assert [each.margin for each in again.answers] == [float("inf"), float("-inf"), 1e-300]
    assert again.belief == outcome.belief
