"""Stages are timed without what is inside them, in the thread that asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pacsklearn._fit_report import FitReport, note_fits, recorded, stage


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let seconds pass, half of them on the processor."""
    passed = [0.0]
    clock = SimpleNamespace(process_time=lambda: sum(passed) / 2, perf_counter=lambda: sum(passed))
    monkeypatch.setattr("pacsklearn._fit_report.time", clock)
    return passed.append


def test_a_stage_is_timed_without_the_stages_inside_it(passes: Callable[[float], None]) -> None:
    with recorded() as report:
        passes(1)
        with stage("outer"):
            passes(2)
            with stage("inner"):
                passes(4)
            passes(8)
        with stage("inner"):
            passes(16)
    assert report.wall == {"other": 1, "outer": 10, "inner": 20}
    assert report.processor == {"other": 0.5, "outer": 5, "inner": 10}


def test_a_stage_that_fails_is_closed(passes: Callable[[float], None]) -> None:
    def fail() -> None:
        with stage("broken"):
            passes(1)
            raise ValueError("no")

    with recorded() as report:
        with pytest.raises(ValueError, match="no"):
            fail()
        passes(2)
    assert report.wall == {"other": 2, "broken": 1}


def test_nothing_is_recorded_outside_and_in_other_threads() -> None:
    with stage("alone"):
        note_fits(1, 1, "why")

    def elsewhere() -> None:
        with stage("elsewhere"):
            note_fits(5, 5, "why")

    with recorded() as report:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert "elsewhere" not in report.wall
    assert (report.together, report.one_by_one) == (0, 0)


def test_it_says_how_candidates_were_fitted() -> None:
    with recorded() as report:
        note_fits(120, 8, "few rows")
    assert "120 candidates fitted together, 8 one by one (few rows)" in str(report)
    assert "together" not in str(FitReport())
