"""The secret seed of the subsets stays where it was drawn."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from pacsklearn.candidates.candidates import Design
from pacsklearn.core.subset_seed import SubsetSeed
from pacsklearn.exceptions import ForeignProcessError

pytestmark = pytest.mark.usefixtures("secret_subsets")


def test_it_has_256_bits_that_nobody_states() -> None:
    drawn = [SubsetSeed().reveal() for _ in range(64)]
    assert len(set(drawn)) == 64
    assert all(2**256 <= number < 2**257 for number in drawn)
    assert all(any(number >> bit & 1 for number in drawn) for bit in range(256))


def test_all_bits_decide_the_subsets() -> None:
    near = [2**256 + (1 << bit) for bit in (0, 64, 127, 128, 192, 255)]
    packed = {Design(8, seed=number).space(40).packed.tobytes() for number in [2**256, *near]}
    assert len(packed) == 7


def test_a_stated_seed_draws_what_it_always_drew() -> None:
    rows = Design(8, seed=0).space(10).rows(0)
    assert rows.tolist() == [0, 1, 3, 5, 7]


def test_copies_are_the_same_and_pickles_hold_nothing() -> None:
    seed = SubsetSeed()
    assert copy.copy(seed) is seed
    assert copy.deepcopy([seed])[0] is seed
    written = pickle.dumps(seed)
    number = seed.reveal()
    assert not any(
        number.to_bytes(33, order)[i : i + 8] in written
        for order in ("little", "big")
        for i in range(1, 24)
    )
    left = pickle.loads(written)
    assert seed.is_known
    assert not left.is_known
    with pytest.raises(ValueError, match="subset_seed=None"):
        left.reveal()
    assert str(number) not in repr(seed) + repr(Design(8, seed=seed))


def test_a_forked_child_is_refused(in_a_child: Callable[[Callable[[], Any]], Any]) -> None:
    seed = SubsetSeed()
    assert isinstance(in_a_child(seed.reveal), ForeignProcessError)
    assert in_a_child(lambda: seed.is_known) is False
