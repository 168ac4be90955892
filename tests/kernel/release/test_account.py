"""Both ledgers of a session, whatever is interrupted, refused or done elsewhere meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import (
    BudgetExhaustedError,
    ForeignProcessError,
    LedgerMismatchError,
    PrivacyLeakWarning,
    SessionRolledBackError,
)
from pacsklearn.kernel.ledger.event import Bookkeeping, Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.kernel.release.account import (
    Account,
    Secret,
    opening_belief,
)
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.universe.samplers import resumed_sampler, sampler_for

EIGHTH = Bookkeeping("release", 0.125, "nats", key="")
"""Eighths add up exactly."""


class Interrupted:
    """A ledger whose next charge is interrupted, before or after it is written."""

    def __init__(self, ceiling: float = 10.0) -> None:
        self.inner = MemoryLedger(ceiling)
        self.when = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def charge(self, event: Event) -> bool:
        when, self.when = self.when, ""
        if when == "before":
            raise KeyboardInterrupt
        is_new = self.inner.charge(event)
        if when == "after":
            raise KeyboardInterrupt
        return is_new


@pytest.mark.parametrize(("which", "alone"), [("own", True), ("own", False), ("shared", False)])
def test_whatever_is_interrupted_both_ledgers_hold_the_same_charges(
    which: str, alone: bool
) -> None:
    """All sequences of four charges, each whole or cut before or after a ledger writes it."""
    for steps in product(("", "before", "after"), repeat=4):
        own, shared = Interrupted(), Interrupted()
        account = Account(own, None if alone else shared, "s")
        keys = []
        for when in (*steps, ""):
            (own if which == "own" else shared).when = when
            if when:
                with pytest.raises(KeyboardInterrupt):
                    account.charge(EIGHTH)
            else:
                keys.append(account.charge(EIGHTH).key)
        charged = [event.key for event in own.events]
        assert charged == [f"s/{number}" for number in range(account.n_charged)]
        assert len(set(keys)) == len(keys) == len(set(keys) & set(charged))
        assert own.spent == account.n_charged / 8
        if not alone:
            assert shared.events == own.events
        # Nobody pays for what no ledger wrote. (What settles one cut charge can be cut as well.)
        cut = [when for when in steps if when]
        most = len(cut) if which == "own" and not alone else cut.count("after")
        assert most * (len(cut) == 1) <= account.n_charged - len(keys) <= most


@pytest.mark.parametrize("other", [0.125, 0.25])
@pytest.mark.parametrize("resumes", [False, True])
def test_of_two_copies_of_a_session_one_goes_on(other: float, resumes: bool) -> None:
    """Also where both ask for the very same charge, which the ledger takes for a replay."""
    shared = MemoryLedger(10.0)
    first = Account(MemoryLedger(10.0), shared, "s")
    first.charge(EIGHTH)
    own = MemoryLedger(10.0)
    own.charge(first.own.events[0])
    second = Account(own, shared, "s", n_charged=1)
    if resumes:
        second.resume()
        assert (second.own.spent, shared.spent) == (0.125, 0.125)
    else:
        second.charge(Bookkeeping("release", other, "nats", key=""))
    spent = shared.spent
    for attempt in (lambda: first.charge(EIGHTH), first.resume):
        with pytest.raises(SessionRolledBackError, match="moved"):
            attempt()
    assert (first.own.spent, first.n_charged, shared.spent) == (0.125, 1, spent)
    second.charge(EIGHTH)
    assert second.n_charged == 3


def test_a_charge_cut_short_is_not_taken_for_that_of_another_copy() -> None:
    shared = Interrupted()
    account = Account(MemoryLedger(10.0), shared, "s")
    shared.when = "before"
    with pytest.raises(KeyboardInterrupt):
        account.charge(EIGHTH)
    shared.charge(Bookkeeping("resumed", 0.0, "nats", key="s/0"))  # the copy that went on
    with pytest.raises(SessionRolledBackError):
        account.charge(EIGHTH)
    assert (account.own.spent, shared.spent, account.n_charged) == (0.0, 0.0, 0)


@pytest.mark.parametrize(("own", "shared"), [(0.25, 9.0), (9.0, 0.25), (0.25, 0.25)])
def test_a_charge_fits_under_both_ceilings_or_nothing_is_charged(own: float, shared: float) -> None:
    account = Account(MemoryLedger(own), MemoryLedger(shared))
    assert account.remaining == 0.25
    assert account.check(0.25) == 0.25
    for _ in range(2):
        assert account.check(0.125) == 0.125
        account.charge(EIGHTH)
    assert account.remaining == 0.0
    for ask in (
        lambda: account.check(0.125),
        lambda: account.check(1e-15),
        lambda: account.charge(EIGHTH),
    ):
        with pytest.raises(BudgetExhaustedError) as caught:
            ask()
        assert caught.value.ceiling == 0.25
    assert account.own.spent == account.shared.spent == 0.25
    assert account.n_charged == 2
    # What the shared ledger refused is no charge in flight: later ones are told apart from it.
    free = account.charge(Bookkeeping("release", 0.0, "nats", key=""))
    assert free.key == f"{account.session}/2"


def test_all_that_remains_is_the_session_s_own() -> None:
    account = Account(MemoryLedger(0.5), None)
    account.charge(EIGHTH)
    assert (
        account.check(1e-250) == 1e-250
    )  # what a batch costs under a belief that is nearly certain
    assert account.check(None) == account.remaining == 0.375
    account.charge(Bookkeeping("release", 0.375, "nats", key=""))
    with pytest.raises(BudgetExhaustedError):  # an answer for nothing would still be an answer
        account.check(None)
    both = Account(MemoryLedger(1.0), MemoryLedger(0.5))
    with pytest.raises(BudgetExhaustedError):  # it asks for more than the others have left
        both.check(None)


def test_what_the_shared_ledger_does_not_count_is_refused_with_its_reason() -> None:
    account = Account(MemoryLedger(1.0, unit="renyi"), MemoryLedger(1.0))
    with pytest.raises(LedgerMismatchError, match="counts"):
        account.charge(Bookkeeping("release", 0.125, "renyi", key=""))
    assert (account.own.spent, account.n_charged) == (0.0, 0)


def test_nothing_is_charged_while_stored_answers_are_in_doubt() -> None:
    account = Account(MemoryLedger(1.0), MemoryLedger(1.0))
    looked = []

    def doubt() -> None:
        looked.append(account.own.spent)
        account.doubt = None

    account.doubt = doubt
    with pytest.raises(RuntimeError, match="interrupted"):
        account.charge(EIGHTH)
    assert looked == [0.0]
    assert account.own.spent == account.shared.spent == 0.0
    account.doubt = doubt
    assert account.check(None) == 1.0
    assert looked == [0.0, 0.0]
    account.charge(EIGHTH)
    assert account.own.spent == 0.125


def test_a_closed_session_charges_nothing() -> None:
    account = Account(MemoryLedger(1.0), MemoryLedger(1.0))
    account.is_closed = True
    for ask in (lambda: account.check(None), lambda: account.charge(EIGHTH)):
        with pytest.raises(RuntimeError, match="closed"):
            ask()
    assert account.shared.spent == 0.0


def test_nothing_is_charged_or_read_in_a_forked_child(
    in_a_child: Callable[[Callable[[], Any]], Any],
) -> None:
    account = Account(MemoryLedger(1.0), None)
    for ask in (
        lambda: account.remaining,
        lambda: account.check(None),
        lambda: account.charge(EIGHTH),
        account.resume,
    ):
        assert isinstance(in_a_child(ask), ForeignProcessError)


WEIGHTS = np.array([1.0, 0.5, 5.0, 1.5])


def secret(seed: int = 0) -> Secret:
    return Secret(CandidateSpace.of(range(4), WEIGHTS), SeededSampler(np.random.default_rng(seed)))


def test_it_is_drawn_once_and_by_its_weights() -> None:
    drawn = []
    for seed in range(2000):
        one = secret(seed)
        drawn.append(one.index)
        assert one.index == drawn[-1] == one.export()[0]
    # Five standard deviations of a share.
    share = np.bincount(drawn, minlength=4) / 2000
    assert np.all(
        np.abs(share - WEIGHTS / 8) <= 5 * np.sqrt(WEIGHTS / 8 * (1 - WEIGHTS / 8) / 2000)
    )


def test_the_belief_is_that_of_all_likelihoods_together() -> None:
    one = secret()
    assert one.belief == pytest.approx(WEIGHTS / 8)
    assert np.array_equal(one.belief, opening_belief(WEIGHTS))
    parts = np.random.default_rng(0).normal(size=(3, 4)) * 50
    for part in parts:
        one.learn(part)
    weights = WEIGHTS * np.exp(parts.sum(axis=0) - parts.sum(axis=0).max())
    assert one.belief == pytest.approx(weights / weights.sum(), rel=1e-9)
    other = secret(7)
    other.restore(*one.export())
    assert other.index == one.index
    assert np.array_equal(other.belief, one.belief)


def test_a_candidate_that_was_drawn_elsewhere() -> None:
    one, numbers = secret(), np.array([2, 0, 2])
    for wrong in (-1, 3, True, 1.0, None, "0"):
        with pytest.raises(ValueError, match="withheld"):
            one.use(wrong, numbers)
    for given, candidate in enumerate(numbers):
        one.use(given, numbers)
        assert one.index == candidate
    assert "2" not in repr(one)


def test_another_process_neither_draws_nor_learns(
    in_a_child: Callable[[Callable[[], Any]], Any],
) -> None:
    one = secret()
    for ask in (
        lambda: one.index,
        lambda: one.learn(np.zeros(4)),
        lambda: one.use(0, np.arange(4)),
        one.export,
    ):
        assert isinstance(in_a_child(ask), ForeignProcessError)


@pytest.mark.parametrize(("random_state", "seed"), [(0, 209652396), (1, 1791095845)])
def test_a_seed_names_the_same_noise_in_every_version(random_state: int, seed: int) -> None:
    """Numbers of scikit-learn's own rule for seeds, which do not change."""
    with pytest.warns(PrivacyLeakWarning, match="private"):
        found = sampler_for(random_state)
    expected = SeededSampler(np.random.default_rng(seed))
    assert np.array_equal(found.noise(20), expected.noise(20))
    assert not found.is_secure


def test_nothing_but_a_seed_makes_it_predictable() -> None:
    assert type(sampler_for(None)) is type(resumed_sampler(None)) is SecureSampler
    again = resumed_sampler(np.random.default_rng(3))
    assert np.array_equal(again.noise(9), SeededSampler(np.random.default_rng(3)).noise(9))
