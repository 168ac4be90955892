"""The comparison on tables: its differentially private descent, and its codebooks."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.tabular import Schema

FOLDER = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture
def tabular(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program imports what lies beside it."""
    monkeypatch.syspath_prepend(FOLDER)
    import tabular

    yield tabular
    for name in ("tabular", "tabular_data", "public_data"):
        sys.modules.pop(name, None)


def data(tabular: Any, n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, n), "b": rng.choice(["x", "y"], n)})
    y = np.where(X["a"] + 0.5 * (X["b"] == "x") > 0.25, "yes", "no")
    table = tabular.Table(X, y, Schema.template(X).confirm())
    return table, (X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :])


def test_descent_learns_with_a_large_budget_and_not_with_none(tabular: Any) -> None:
    table, split = data(tabular)
    good = tabular.descended(table, split, 0.68, 0)[0]
    poor = np.mean([tabular.descended(table, split, 1e-9, seed)[0] for seed in range(20)])
    assert good > 0.8
    assert abs(poor - 0.5) < 0.15


@pytest.mark.statistical
@pytest.mark.parametrize("budget", [1 / 64, 1 / 4])
def test_the_best_test_of_all_steps_is_right_as_often_as_the_bound(
    tabular: Any, budget: float
) -> None:
    """Monte Carlo over whole runs: one row more shifts every step by the clip, at worst."""
    rng, n = np.random.default_rng(1), 20_000
    seen = tabular.descent_scale(budget) * rng.normal(size=(n, tabular.STEPS))
    used = rng.random(n) < 0.5
    seen[used] += tabular.CLIP
    right = np.mean((seen.sum(axis=1) > tabular.STEPS * tabular.CLIP / 2) == used)
    assert abs(right - posterior_success(budget)) < 4 * 0.5 / n**0.5


def test_results_are_kept_and_continued(tabular: Any, tmp_path: Path) -> None:
    calls: list[int] = []

    def run() -> list[list[float]]:
        calls.append(1)
        return [[0.5], [0.6]]

    for _ in range(2):
        kept = tabular.Kept(tmp_path, "white wine", 100)
        kept.cell(0, "auto", run, 0)
    kept.cell(1, "auto", lambda: [[0.7], [0.6]], 0)
    assert len(calls) == 1
    again = tabular.Kept(tmp_path, "white wine", None)
    assert again.by_method() == {"auto": {"0": [[0.5], [0.6]], "1": [[0.7], [0.6]]}}
    assert again.n_rows == 100
    with pytest.raises(SystemExit, match="holds"):
        tabular.Kept(tmp_path, "white wine", 200)


def test_a_cell_that_takes_too_long_stays_empty(tabular: Any, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGALRM, tabular.out_of_time)
    try:

        def endless() -> list[float]:
            while True:
                time.sleep(0.01)

        kept = tabular.Kept(tmp_path, "rice", None)
        kept.cell(0, "auto", endless, 1)
        kept.cell(0, "direct", lambda: [[0.1]] * 3, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert tabular.Kept(tmp_path, "rice", None).by_method() == {"direct": {"0": [[0.1]] * 3}}


def test_differences_to_rivals_are_taken_split_by_split(
    tabular: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    table, _ = data(tabular)
    wide, gap = [0.2, 0.5, 0.8], 0.01
    scores = {
        name: {
            str(split): [[level + more, level, 1 - level]] * 3 for split, level in enumerate(wide)
        }
        for name, more in (("auto, cap", gap), ("DP-EBM, default", 0.0))
    }
    tabular.shown("made", table, scores, 100)
    printed = capsys.readouterr().out
    assert "auto, cap less DP-EBM, default" in printed
    assert "+0.010 ±0.000" in printed  # beside errors of 0.17 of each
    assert "log loss" in printed


def test_probabilities_are_scored_and_labels_alone_are_not(tabular: Any) -> None:
    truth, classes = np.array(["a", "b", "b"]), np.array(["a", "b"])
    shares = np.array([[0.9, 0.1], [0.4, 0.6], [1.0, 0.0]])
    right, area, loss = tabular.figures(truth, classes[shares.argmax(axis=1)], shares, classes)
    assert (right, area) == (pytest.approx(2 / 3), 0.5)
    assert loss == pytest.approx(-np.log([0.9, 0.6, 1e-6]).mean(), rel=1e-5)
    assert np.isnan(tabular.figures(truth, truth, None, classes)[1:]).all()
