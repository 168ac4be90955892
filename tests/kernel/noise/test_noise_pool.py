"""Noise drawn ahead: every value once, in order, whatever threads and processes do."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.exceptions import ForeignProcessError
from pacsklearn.kernel.noise.sampler import NoisePool, Sampler, SecureSampler, SeededSampler
from tests.inside import locks_of, miss_forks


class CountingSampler(Sampler):
    """Counts up: a repeated value shows."""

    is_secure = True

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls: list[int] = []
        self.blocks: list[NDArray[np.int64]] = []
        self.callers: list[str] = []
        self._fail_at = fail_at
        self._lock = threading.Lock()

    def index(self, weights: NDArray[np.float64]) -> int:
        raise AssertionError("a pool draws noise only")

    def noise(self, size: int) -> NDArray[np.int64]:
        with self._lock:
            start = sum(self.calls)
            if self._fail_at is not None and start >= self._fail_at:
                raise OSError("no entropy")
            self.calls.append(size)
            self.callers.append(threading.current_thread().name)
            self.blocks.append(np.arange(start + 1, start + size + 1))
            return self.blocks[-1]


@pytest.fixture
def drawing() -> Callable[[], bool]:
    """Tell whether a pool made by this test draws; others may still be on their last block."""
    before = set(threading.enumerate())

    def is_drawing() -> bool:
        return any(thread.name == "noise-pool" for thread in set(threading.enumerate()) - before)

    return is_drawing


def ends(drawing: Callable[[], bool]) -> bool:
    for _ in range(3000):
        if not drawing():
            return True
        time.sleep(0.02)
    return False


def settle(pool: NoisePool) -> None:
    """Wait until the thread has nothing to draw, or has failed."""
    state = pool._state
    assert state is not None
    while not state._changed._waiters and state._error is None:  # type: ignore[attr-defined]
        time.sleep(0.001)


def test_values_come_once_and_few_are_left_over() -> None:
    sampler = CountingSampler()
    with NoisePool(sampler, block=1000) as pool:
        taken = [pool.take(n) for n in (1, 0, 5, 3000, 10_000, 7)]
    assert [part.size for part in taken] == [1, 0, 5, 3000, 10_000, 7]
    values = np.concatenate(taken)
    assert values.dtype == np.int64
    assert np.unique(values).size == values.size
    assert values.min() >= 1
    assert values.max() <= sum(sampler.calls)


def test_what_waits_in_the_pool_is_taken_in_order() -> None:
    sampler = CountingSampler()
    with NoisePool(sampler, block=1000) as pool:
        while True:
            pool.take(2000)
            settle(pool)
            values = np.concatenate([pool.take(n) for n in (1, 30, 400)])
            drawn_by = np.repeat(sampler.callers, sampler.calls)[values.min() - 1 : values.max()]
            # On a busy machine the pool may be found empty, and who finds it so draws: what the
            # pool drew before and after waits side by side.
            if set(drawn_by) == {"noise-pool"}:
                break
        np.testing.assert_array_equal(np.diff(values), 1)


def test_calls_are_small_at_first_and_long_later() -> None:
    sampler = CountingSampler()
    with NoisePool(sampler, block=2048) as pool:
        pool.take(3)
        settle(pool)
        assert sum(sampler.calls) <= 600, "a short session does not pay for a long one"
        for _ in range(20):
            pool.take(2000)
            settle(pool)
        assert max(sampler.calls) == 2048
        assert sampler.calls.count(2048) > 10
        assert sum(sampler.calls) - 40_003 <= 5 * 2048


def test_whoever_finds_the_pool_empty_draws_too() -> None:
    class Slow(CountingSampler):
        def noise(self, size: int) -> NDArray[np.int64]:
            if threading.current_thread().name == "noise-pool":
                released.wait(10)
            return super().noise(size)

    released, sampler = threading.Event(), Slow()
    with NoisePool(sampler) as pool:
        assert pool.take(3).size == 3
        released.set()
        settle(pool)
    assert sampler.calls == [3, 256], "what is drawn ahead for a start, and no more"


def test_nothing_is_drawn_before_the_first_take() -> None:
    sampler = CountingSampler()
    NoisePool(sampler)
    time.sleep(0.05)
    assert not sampler.calls


def test_threads_never_share_a_value() -> None:
    found: list[NDArray[np.int64]] = []
    with NoisePool(CountingSampler(), block=500) as pool:

        def work() -> None:
            found.extend(pool.take(37) for _ in range(100))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    values = np.concatenate(found)
    assert np.unique(values).size == values.size == 8 * 100 * 37


def test_blocks_are_wiped() -> None:
    sampler = CountingSampler()
    pool = NoisePool(sampler, block=1000)
    pool.take(300)
    settle(pool)
    waiting = [block for block in sampler.blocks if block.any()]
    assert sum(block.size for block in waiting) < sum(sampler.calls)
    assert waiting, "for whoever takes next"
    pool.close()
    assert not any(block.any() for block in sampler.blocks)


def test_a_closed_pool_says_so_and_its_thread_ends(drawing: Callable[[], bool]) -> None:
    sampler = CountingSampler()
    pool = NoisePool(sampler)
    pool.take(1)
    assert drawing()
    pool.close()
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.take(1)
    assert ends(drawing)


def test_a_forgotten_pool_stops_drawing(drawing: Callable[[], bool]) -> None:
    pool = NoisePool(CountingSampler())
    pool.take(1)
    del pool
    gc.collect()
    assert ends(drawing)


def test_errors_of_the_thread_reach_whoever_takes(drawing: Callable[[], bool]) -> None:
    with NoisePool(CountingSampler(fail_at=256), block=1000) as pool:
        for _ in range(2):
            with pytest.raises(OSError, match="entropy"):
                pool.take(10_000)
        assert ends(drawing)
        with pytest.raises(OSError, match="entropy"):
            pool.take(1)


def test_what_was_drawn_before_an_error_is_handed_out() -> None:
    sampler = CountingSampler(fail_at=300)
    with NoisePool(sampler, block=1000) as pool:
        for n in (1, 200, 100):
            assert pool.take(n).size == n
            settle(pool)
        left: list[NDArray[np.int64]] = []
        with pytest.raises(OSError, match="entropy"):
            left.extend(pool.take(1) for _ in range(10_000))
        assert np.concatenate(left).all()
        assert len(left) == sum(sampler.calls) - 301 > 100


@pytest.mark.parametrize(("fewer", "kind"), [(1, np.int64), (0, np.int32), (0, np.float64)])
def test_a_sampler_that_draws_the_wrong_thing_is_refused(fewer: int, kind: Any) -> None:
    class Wrong(CountingSampler):
        def noise(self, size: int) -> NDArray[Any]:
            return np.zeros(size - fewer, dtype=kind)

    with NoisePool(Wrong()) as pool, pytest.raises(TypeError, match="int64"):
        pool.take(2)


def test_seeded_noise_has_no_thread_and_does_not_depend_on_how_it_is_taken(
    drawing: Callable[[], bool],
) -> None:
    def seeded() -> NoisePool:
        return NoisePool(SeededSampler(np.random.default_rng(4)), block=10)

    with seeded() as pool:
        parts = np.concatenate([pool.take(n) for n in (1, 30, 0, 9)])
        assert not drawing()
    np.testing.assert_array_equal(parts, seeded().take(40))


def test_pools_are_neither_pickled_nor_copied() -> None:
    pool = NoisePool(SeededSampler(np.random.default_rng(0)))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither"):
            attempt(pool)


@pytest.mark.parametrize("hook", [True, False])
def test_a_forked_process_gets_nothing(
    hook: bool, monkeypatch: pytest.MonkeyPatch, in_a_child: Callable[[Callable[[], Any]], Any]
) -> None:
    if not hook:  # as after a fork from compiled code
        miss_forks(monkeypatch)
    sampler = CountingSampler()
    with NoisePool(sampler, block=512) as pool:
        pool.take(300)
        settle(pool)  # the buffer holds values that both processes could hand out
        waiting = in_a_child(lambda: sum(np.count_nonzero(block) for block in sampler.blocks))
        assert bool(waiting == 0) is hook, "what the parent will use is wiped in its child"
        taken = in_a_child(lambda: pool.take(200))
        assert isinstance(taken, ForeignProcessError)
        # Also where a thread of the parent held every lock when it forked.
        one, other = locks_of(pool)
        with one, other:
            assert isinstance(in_a_child(lambda: pool.take(1)), ForeignProcessError)
            assert in_a_child(pool.close) is None
        assert np.unique(pool.take(200)).size > 190


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of something."""


class Interrupting(np.ndarray):
    """Block during whose wiping somebody presses Ctrl-C, once."""

    pressed = True

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, value)
        self._press()

    def fill(self, value: object) -> None:
        super().fill(value)
        self._press()

    def _press(self) -> None:
        if not Interrupting.pressed:
            Interrupting.pressed = True
            raise Interrupted


class InterruptingSampler(CountingSampler):
    """Draws blocks ahead whose wiping can be interrupted."""

    def noise(self, size: int) -> NDArray[np.int64]:
        values = super().noise(size)
        ahead = threading.current_thread().name == "noise-pool"
        return values.view(Interrupting) if ahead else values


def test_an_interrupt_between_wiping_and_detaching_hands_out_no_zeros(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampler = InterruptingSampler()
    with NoisePool(sampler, block=1000) as pool:
        pool.take(300)
        settle(pool)
        monkeypatch.setattr(Interrupting, "pressed", False)
        with pytest.raises(Interrupted):
            pool.take(20)
        values = pool.take(400)
        assert values.all()
        assert np.unique(values).size == values.size


def test_an_interrupt_while_all_is_wiped_hands_out_no_zeros(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampler = InterruptingSampler()
    pool = NoisePool(sampler, block=1000)
    pool.take(300)
    settle(pool)
    monkeypatch.setattr(Interrupting, "pressed", False)
    with pytest.raises(Interrupted):
        pool.close()
    assert Interrupting.pressed
    with pytest.raises(RuntimeError):
        pool.take(20)


def test_an_interrupt_while_a_lock_is_taken_stops_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Condition takes its lock in Python: an interrupt came after it, and nobody gave it back."""
    enter = threading.Condition.__enter__
    main = threading.get_ident()

    def interrupted(self: threading.Condition) -> bool:
        taken = enter(self)
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        return taken

    pool = NoisePool(SecureSampler())
    pool.take(1)
    monkeypatch.setattr(threading.Condition, "__enter__", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        pool.take(3)
    monkeypatch.undo()
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(len(pool.take(5))), daemon=True)
    other.start()
    other.join(20)
    assert found == [5]
    pool.close()


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="block"):
        NoisePool(SecureSampler(), block=0)
    with (
        NoisePool(SeededSampler(np.random.default_rng(0))) as pool,
        pytest.raises(ValueError, match="negative"),
    ):
        pool.take(-1)


def test_secure_noise_has_the_promised_scale() -> None:
    with NoisePool(SecureSampler()) as pool:
        values = pool.take(2000) / 2**20
    assert abs(values.mean()) < 6 / np.sqrt(2000)
    assert abs(values.std() - 1) < 6 / np.sqrt(4000)
