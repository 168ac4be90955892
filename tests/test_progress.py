"""A bar on a terminal, for what takes longer than two seconds."""

from __future__ import annotations

import io
import sys

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn import _progress as progress
from pacsklearn.audit import run_audit
from pacsklearn.srpp import SRPPSGDClassifier
from pacsklearn.tabular import privacy_utility_curve

X, Y = load_iris(return_X_y=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch, stream):
    """Stream in the place of standard error, which pytest sets anew after fixtures."""
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_what_is_soon_done_draws_nothing(monkeypatch):
    terminal = watched(monkeypatch, Terminal())
    with progress.bar("fits", 2) as at:
        at(1)
        at(2)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_long_fit_counts_its_candidates(monkeypatch, jobs):
    terminal = watched(monkeypatch, Terminal())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    tree = DecisionTreeClassifier(max_depth=2)
    PACPrivate(tree, release=Answers(), secret=Subsets(8), n_jobs=jobs).fit(X, Y)
    drawn = terminal.getvalue().split("\r")
    # Two workers that end together are counted together.
    steps = [f"candidates [{'#' * 4 * done:<32}] {done} of 8" for done in range(1, 8)]
    assert drawn[1:-1] == [step for step in steps if step in drawn]
    assert len(drawn) > 3
    assert drawn[-1] == f"candidates [{'#' * 32}] 8 of 8\n"


def test_a_long_audit_counts_its_rounds(monkeypatch):
    model = PACPrivate(RidgeClassifier(), secret=Subsets(8)).fit(X, Y)
    terminal = watched(monkeypatch, Terminal())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    run_audit(model, X, Y, attacks=["identification", "optimal_membership"], n_trials=10)
    assert terminal.getvalue().endswith(f"rounds [{'#' * 32}] 20 of 20\n")


def test_curves_and_descents_count_too(monkeypatch):
    terminal = watched(monkeypatch, Terminal())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    secret = Subsets(8)
    privacy_utility_curve(RidgeClassifier(), X, Y, budgets=[1 / 4, 1], n_releases=2, secret=secret)
    assert terminal.getvalue().endswith(f"points [{'#' * 32}] 2 of 2\n")
    SRPPSGDClassifier(classes=[0, 1, 2], epochs=3).fit(X, Y)
    assert terminal.getvalue().endswith(f"epochs [{'#' * 32}] 3 of 3\n")


class Tee:
    """What logging programs put in the place of a stream: it is written to, and no more."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("stream", [Tee(), None, closed()], ids=["tee", "none", "closed"])
def test_streams_that_are_no_files_stop_no_fit(monkeypatch, name, stream):
    monkeypatch.setattr(sys, name, stream)
    asked = PACPrivate(DecisionTreeClassifier(), release=Answers(4), secret=Subsets(8)).fit(X, Y)
    assert asked.predict(X[:2]).shape == (2,)
    released = PACPrivate(RidgeClassifier(), secret=Subsets(8)).fit(X, Y)
    assert run_audit(released, X, Y, attacks=["lira"], n_trials=20).n_units == 150


def test_a_file_gets_no_bar(monkeypatch):
    stream = watched(monkeypatch, io.StringIO())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    with progress.bar("fits", 1) as at:
        at(1)
    assert stream.getvalue() == ""
