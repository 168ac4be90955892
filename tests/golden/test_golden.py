"""What released laws, prices and guarantees are, held against a stored record.

A figure changes only in a commit that says which and why: ``make golden BASE=<commit>`` lists them,
``python scripts/golden.py write`` stores them.
"""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.golden.adapter import processor, taken
from tests.golden.calls import Call, calls
from tests.references import by_loops, by_reference

RECORD = json.loads(Path(__file__).with_name("record.json").read_text(encoding="utf-8"))
CALLS = list(calls())
MADE_ON = RECORD.pop("processor")


def agree(stored: Any, found: Any, tolerance: float) -> bool:
    """Whether two figures are one: whole numbers exactly, others by their size."""
    if isinstance(stored, list) and isinstance(found, list):
        size = max((abs(x) for x in stored if isinstance(x, float)), default=0.0)
        return len(stored) == len(found) and all(
            agree(a, b, tolerance) or (isinstance(a, float) and abs(a - b) <= tolerance * size)
            for a, b in zip(stored, found, strict=True)
        )
    if isinstance(stored, float) and isinstance(found, float):
        return math.isclose(stored, found, rel_tol=tolerance) or (
            math.isnan(stored) and math.isnan(found)
        )
    return type(stored) is type(found) and bool(stored == found)


def test_the_record_holds_every_call_and_no_other() -> None:
    assert len(CALLS) >= 250
    assert [call.name for call in CALLS] == list(RECORD)


def kind(call: Call) -> tuple[str, ...]:
    """What is called; one of each is in the sample."""
    return (call.kind,)


def arguments(call: Call) -> list[tuple[str, str, str]]:
    """Every argument and its value; `make golden` and `make soak` hold the other products too."""
    return [(call.kind, name, repr(value)) for name, value in call.arguments.items()]


@pytest.mark.product(by=kind, only=2)
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_figures_are_the_same_bits_without_numba(call: Call) -> None:
    assert repr(by_reference(partial(taken, call))) == repr(by_loops(partial(taken, call)))


@pytest.mark.skipif(
    processor()["kernels"] != MADE_ON["kernels"],
    reason="sums are rounded otherwise on another processor or by another version of OpenBLAS; "
    "make golden BASE=... compares there",
)
@pytest.mark.product(by=arguments)
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_figures_are_those_of_the_record(call: Call) -> None:
    is_same_machine = processor() == MADE_ON
    if call.searched and not is_same_machine:
        pytest.skip("a search ends elsewhere with other instructions of the processor")
    stored, found = RECORD[call.name], json.loads(json.dumps(taken(call)))
    assert set(found) == set(stored)
    charges = 0.0 if is_same_machine else 1e-9
    differing = {
        name: (stored[name], found[name])
        for name in stored
        if not agree(
            stored[name], found[name], charges if name.endswith(".charge") else call.tolerance
        )
    }
    assert not differing
