"""What belongs to a process is refused everywhere else."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from pacsklearn.core.home_process import HomeProcess
from pacsklearn.exceptions import ForeignProcessError, PacsklearnError

InAChild = Callable[[Callable[[], Any]], Any]


def test_at_home_nothing_happens() -> None:
    home = HomeProcess("This account")
    assert home.is_here
    home.check()


def test_a_child_is_refused_in_words_that_help(in_a_child: InAChild) -> None:
    home = HomeProcess("This account")
    error = in_a_child(home.check)
    assert isinstance(error, ForeignProcessError)
    assert isinstance(error, PacsklearnError)
    text = str(in_a_child(lambda: _text(home)))
    assert text.startswith(
        f"This account stays in the process that made it, the process {os.getpid()}"
    )
    for word in ("nothing was drawn or charged", "after the fork", "save and load"):
        assert word in text


def _text(home: HomeProcess) -> str:
    try:
        home.check()
    except ForeignProcessError as error:
        return str(error)
    return ""


def test_a_child_has_a_home_of_its_own(in_a_child: InAChild) -> None:
    assert in_a_child(lambda: HomeProcess("made in the child").is_here)


def test_a_process_id_that_is_given_again_is_not_home(
    in_a_child: InAChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, mine = HomeProcess("This account"), os.getpid()

    def reused() -> bool:
        monkeypatch.setattr(os, "getpid", lambda: mine)
        return home.is_here

    assert in_a_child(reused) is False


def test_a_fork_that_ran_no_hook_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    home, mine = HomeProcess("This account"), os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: mine + 1)
    assert not home.is_here


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_neither_pickled_nor_copied(leave: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"This account.*neither pickled nor copied"):
        leave(HomeProcess("This account"))


def test_its_repr_names_it() -> None:
    assert repr(HomeProcess("This account")) == "HomeProcess('This account')"
