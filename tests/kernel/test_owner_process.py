"""What belongs to a process is refused everywhere else."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import ForeignProcessError, PacsklearnError
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn.universe.design import Design, SubsetSeed

InAChild = Callable[[Callable[[], Any]], Any]


def test_at_home_nothing_happens() -> None:
    home = OwnerProcess("This account")
    assert home.is_here
    home.check()


def test_a_child_is_refused_in_words_that_help(in_a_child: InAChild) -> None:
    home = OwnerProcess("This account")
    error = in_a_child(home.check)
    assert isinstance(error, ForeignProcessError)
    assert isinstance(error, PacsklearnError)
    text = str(in_a_child(lambda: _text(home)))
    assert text.startswith(
        f"This account stays in the process that made it, the process {os.getpid()}"
    )
    for word in ("nothing was drawn or charged", "after the fork", "save and load"):
        assert word in text


def _text(home: OwnerProcess) -> str:
    try:
        home.check()
    except ForeignProcessError as error:
        return str(error)
    return ""


def test_a_child_has_a_home_of_its_own(in_a_child: InAChild) -> None:
    assert in_a_child(lambda: OwnerProcess("made in the child").is_here)


def test_a_process_id_that_is_given_again_is_not_home(
    in_a_child: InAChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, mine = OwnerProcess("This account"), os.getpid()

    def reused() -> bool:
        monkeypatch.setattr(os, "getpid", lambda: mine)
        return home.is_here

    assert in_a_child(reused) is False


def test_a_fork_that_ran_no_hook_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    home, mine = OwnerProcess("This account"), os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: mine + 1)
    assert not home.is_here


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_neither_pickled_nor_copied(leave: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="neither"):
        leave(OwnerProcess("This account"))


def test_its_repr_names_it() -> None:
    assert repr(OwnerProcess("This account")) == "OwnerProcess('This account')"


pytestmark = pytest.mark.usefixtures("secret_subsets")


def test_it_has_256_bits_that_nobody_states() -> None:
    drawn = [SubsetSeed().reveal() for _ in range(64)]
    assert len(set(drawn)) == 64
    assert all(2**256 <= number < 2**257 for number in drawn)
    assert all(any(number >> bit & 1 for number in drawn) for bit in range(256))


def test_all_bits_decide_the_subsets() -> None:
    near = [2**256 + (1 << bit) for bit in (0, 64, 127, 128, 192, 255)]
    packed = {
        Design(8, seed=number).space(np.zeros((40, 1))).packed.tobytes()
        for number in [2**256, *near]
    }
    assert len(packed) == 7


def test_a_stated_seed_draws_what_it_always_drew() -> None:
    rows = Design(8, seed=0).space(np.zeros((10, 1))).rows(0)
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
    with pytest.raises(ValueError, match="seed=None"):
        left.reveal()
    assert str(number) not in repr(seed) + repr(Design(8, seed=seed))


def test_a_forked_child_is_refused(in_a_child: Callable[[Callable[[], Any]], Any]) -> None:
    seed = SubsetSeed()
    assert isinstance(in_a_child(seed.reveal), ForeignProcessError)
    assert in_a_child(lambda: seed.is_known) is False
