"""A COMMIT that reaches the server, and whose reply reaches nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pacsklearn.exceptions import LedgerUnknownError
from pacsklearn.kernel.ledger import log
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import verify_ledger
from tests.kernel.ledger.swallowing_proxy import SwallowingProxy

MakeEvent = Callable[..., Event]


@pytest.fixture
def proxy(address: str) -> Iterator[SwallowingProxy]:
    SharedLedger.found(address, 1.0)
    found = SwallowingProxy(address)
    yield found
    close_ledgers()
    found.close()


@pytest.fixture
def ledger(proxy: SwallowingProxy) -> SharedLedger:
    return SharedLedger(proxy.address)


def test_what_was_committed_is_charged_once(
    proxy: SwallowingProxy, ledger: SharedLedger, make_event: MakeEvent
) -> None:
    for number in range(4):
        proxy.swallow = 1
        assert ledger.charge(make_event(0.125, key=f"{number}"))
        assert not ledger.charge(make_event(0.125, key=f"{number}"))
        assert proxy.swallowed == number + 1
    assert ledger.spent == 0.5
    assert verify_ledger(ledger).sequence == 4


def test_those_who_share_a_commit(
    proxy: SwallowingProxy, ledger: SharedLedger, make_event: MakeEvent
) -> None:
    ledger.charge(make_event(2.0**-20))
    proxy.swallow = 3
    events = [make_event(2.0**-20, key=f"{number // 2}") for number in range(64)]
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(ledger.charge, events))
    assert proxy.swallowed == 3
    assert sum(told) == 32, "each of two callers with one key was told that it was new"
    assert all(told[n] != told[n + 1] for n in range(0, 64, 2))
    assert verify_ledger(ledger).sequence == 33


def test_away_for_longer_than_patience(
    proxy: SwallowingProxy,
    ledger: SharedLedger,
    make_event: MakeEvent,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not known, and found out by the row's nonce before anything else."""
    monkeypatch.setattr(log, "PATIENCE", 0.3)
    proxy.swallow, proxy.is_away = 1, True
    with pytest.raises(LedgerUnknownError):
        ledger.charge(make_event(0.25, key="k"))
    proxy.is_away = False
    assert ledger.charge(make_event(0.25, key="k")), "nobody was told of it"
    assert not ledger.charge(make_event(0.25, key="k"))
    assert ledger.spent == 0.25
    assert verify_ledger(ledger).sequence == 1
