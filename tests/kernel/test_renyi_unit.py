from __future__ import annotations

import pytest

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.srpp import GroupScenario, PrevalenceScenario, SliceProfile
from pacsklearn.srpp.release.renyi_unit import check_secret_name, check_unit, renyi_unit

PROFILE = SliceProfile.uniform(3, n_slices=5)
BASE = {
    "order": 4.0,
    "aggregation": "average",
    "profile": PROFILE,
    "scenario": PrevalenceScenario(),
    "secret_name": "clinic, 2026: diagnosis",
}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"order": 5.0}, "order"),
        ({"aggregation": "joint"}, "aggregation"),
        ({"profile": SliceProfile.uniform(3, n_slices=5, seed=1)}, "slice profile"),
        ({"profile": SliceProfile.uniform(4, n_slices=5)}, "slice profile"),
        ({"scenario": PrevalenceScenario(shift=0.2)}, "scenario"),
        ({"scenario": GroupScenario()}, "scenario"),
        ({"secret_name": "another, with=signs"}, "secret"),
        ({"secret_name": None}, "secret"),
    ],
)
def test_everything_that_must_be_equal_is_in_the_unit(change, named):
    ours, theirs = renyi_unit(**BASE), renyi_unit(**{**BASE, **change})
    with pytest.raises(LedgerMismatchError, match=f"differs: .*{named} "):
        check_unit(theirs, ours)


def test_equal_units():
    check_unit(renyi_unit(**BASE), renyi_unit(**{**BASE, "scenario": PrevalenceScenario()}))


def test_the_full_view_has_no_slices():
    full = {**BASE, "aggregation": "full"}
    other = SliceProfile.uniform(9, n_slices=2)
    assert renyi_unit(**full) == renyi_unit(**{**full, "profile": other})


def test_mutual_information_is_something_else():
    with pytest.raises(LedgerMismatchError, match="bound"):
        check_unit("nats", renyi_unit(**BASE))


def test_a_shared_ledger_asks_for_the_secrets_name():
    check_secret_name(None, None)
    check_secret_name("clinic", object())
    with pytest.raises(ValueError, match="secret_name"):
        check_secret_name(None, object())
    with pytest.raises(ValueError, match="empty"):
        check_secret_name(" ", None)
    with pytest.raises(TypeError, match="secret_name"):
        check_secret_name(3, None)
