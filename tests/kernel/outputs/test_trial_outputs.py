"""Work that fails or hangs gives nothing, and ends."""

from __future__ import annotations

import contextlib
import threading
import time

from pacsklearn.sampled.trial_outputs import within


def test_what_ends_in_time_is_given() -> None:
    assert within(60.0, lambda: 7) == 7


def test_what_fails_in_any_way_gives_nothing() -> None:
    def leaves() -> int:
        raise SystemExit("17.5")

    assert within(60.0, leaves) is None
    assert within(60.0, lambda: 1 // 0) is None


def test_what_hangs_is_given_up_and_told_to_end() -> None:
    ended = threading.Event()

    def hangs() -> int:
        try:
            while True:
                time.sleep(0.01)
        finally:
            ended.set()

    assert within(0.1, hangs) is None
    assert ended.wait(60)


def test_what_swallows_the_request_to_end_cannot_answer_late() -> None:
    def stubborn() -> int:
        with contextlib.suppress(SystemExit):
            while True:
                time.sleep(0.01)
        return 7

    assert within(0.1, stubborn) is None
