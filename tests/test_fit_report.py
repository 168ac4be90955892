"""Stages are timed without what is inside them, in the thread that asked."""

from __future__ import annotations

import threading
import time

import pytest

from pacsklearn._fit_report import FitReport, note_fits, recorded, stage


def test_a_stage_is_timed_without_the_stages_inside_it() -> None:
    with recorded() as report:
        with stage("outer"):
            time.sleep(0.02)
            with stage("inner"):
                time.sleep(0.05)
            time.sleep(0.02)
        with stage("inner"):
            time.sleep(0.03)
    assert report.wall["inner"] >= 0.08
    assert 0.04 <= report.wall["outer"] < report.wall["inner"] + 0.04
    assert report.processor["inner"] < report.wall["inner"]
    assert set(report.wall) == set(report.processor) == {"other", "outer", "inner"}


def test_a_stage_that_fails_is_closed() -> None:
    def fail() -> None:
        with stage("broken"):
            time.sleep(0.01)
            raise ValueError("no")

    with recorded() as report:
        with pytest.raises(ValueError, match="no"):
            fail()
        time.sleep(0.03)
    assert report.wall["other"] >= 0.03
    assert report.wall["broken"] >= 0.01


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
