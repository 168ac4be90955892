"""True positives at few false alarms: thresholds, intervals, verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from pacsklearn import PACPrivate, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.audit.audit_record import Audit
from pacsklearn.audit.operating_point import operating_points
from pacsklearn.exceptions import AuditViolationError
from pacsklearn.testing import example_games
from tests.audit.broken import TooQuiet

X, y = load_iris(return_X_y=True)


def test_thresholds_are_chosen_on_the_rounds_before():
    """200 non-members beforehand: 0.1 % is above all of them, 1 % above all but two."""
    before = np.arange(200.0)
    counted = np.array([200.0, 199.5, 198.5, 197.5, 0.0] * 2)
    truth = np.array([False] * 200 + [True] * 5 + [False] * 5)
    strict, lax = operating_points(
        "x", np.append(before, counted), truth, 10, prior=0.5, information=0.1
    )
    assert (strict.n_found, strict.n_alarms, strict.n_members, strict.n_others) == (2, 2, 5, 5)
    assert (lax.n_found, lax.n_alarms) == (4, 4)
    assert operating_points("x", counted, truth[200:], 10, prior=0.5, information=None) == ()


@pytest.mark.soak
@pytest.mark.statistical
def test_a_sound_test_is_hardly_ever_refuted_and_a_leak_is():
    """Scores that say nothing: 400 audits at 95 %, so 2.5 % may be refuted at most."""
    generator = np.random.default_rng(1)
    refuted = []
    for shift in (0.0, 4.0):
        verdicts = []
        for _ in range(400):
            truth = generator.random(600) < 0.5
            scores = generator.normal(size=600) + shift * truth
            points = operating_points("x", scores, truth, 400, prior=0.5, information=0.01)
            verdicts.append(points[1].violates(0.975))
        refuted.append(np.mean(verdicts))
    assert refuted[0] <= 0.025
    assert refuted[1] > 0.95


def test_an_audit_states_them_and_they_can_refute_it():
    quiet = {"budget": 1 / 16, "noise": TooQuiet(), "secret": Subsets(16, blocks=None)}
    model = PACPrivate(Ridge(), **quiet).fit(X, y)
    audit = run_audit(model, X, y, attacks=["lira"], n_trials=300)
    assert [point.rate for point in audit.points] == [0.001, 0.01]
    assert audit.violated_points
    assert "members found" in str(audit)
    again = Audit.from_json(audit.to_json())
    assert again == audit
    only = Audit(**{**vars(audit), "results": ()})
    with pytest.raises(AuditViolationError, match="lira"):
        only.raise_if_violated()


def test_all_intervals_share_the_level():
    model = PACPrivate(Ridge(), secret=Subsets(16)).fit(X, y)
    few = ["identification", "lira"]
    audit = run_audit(model, X, y, attacks=few, n_trials=100, level=0.99)
    assert audit.points
    stated = len(audit.results) + 2 * len(audit.points)
    assert stated * (1 - audit.attack_level) <= 0.01 + 1e-12


def test_counting_stops_where_the_verdict_is_clear():
    games = example_games()
    leak = games.leaks["noise scaled by 0.05"]
    early = run_audit(leak, attacks=["optimal_membership"], n_trials=2000, stop_early=True)
    assert not early.passed
    assert early.results[0].n_trials < 400
    assert early.results[0].sequential
    assert Audit.from_json(early.to_json()) == early
    full = run_audit(leak, attacks=["optimal_membership"], n_trials=300)
    assert not full.results[0].sequential
    sound = run_audit(games.sound, attacks=["optimal_membership"], n_trials=300, stop_early=True)
    assert sound.passed
