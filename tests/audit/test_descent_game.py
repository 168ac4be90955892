"""Private gradient descent is attacked with the rows that pull hardest, by its whole transcript."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from pacsklearn.audit import run_audit
from pacsklearn.audit.audit_record import Audit
from pacsklearn.audit.descent_game import DescentGame
from pacsklearn.exceptions import AuditViolationError
from pacsklearn.srpp import (
    Batches,
    Clipping,
    DifferingRows,
    Epochs,
    LearningRate,
    NoiseMultiplier,
    PrevalenceScenario,
    Renyi,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.release.run import PrivateRun

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 2
KNOWN = {"batches": Batches(60, sampling="without-replacement", accounting="worst-case")}


def fitted(kind=SRPPSGDClassifier, **params):
    declared = {"classes": [0, 1]} if kind is SRPPSGDClassifier else {}
    return kind(**{"batches": 20, "epochs": 1} | declared | params).fit(X, Y)


@pytest.mark.soak
@pytest.mark.parametrize("count", [1, 4])
def test_the_attack_is_the_optimal_one(count):
    """Of all rows in every batch: two Gaussians, ``2 k`` norms apart in each of 3 steps."""
    model = fitted(scenario=DifferingRows(count), budget=NoiseMultiplier(4.0), epochs=3, **KNOWN)
    game, generator = DescentGame(model), np.random.default_rng(1)
    rounds = [game.play(generator) for _ in range(256)]
    assert {tuple(each.released.held) for each in rounds} == {(count,) * 3}
    expected = stats.norm.cdf(np.sqrt(3) * count / 4)
    # By the posterior's own reckoning, and by counting: 4 standard errors each.
    sure = [each.posterior.max() for each in rounds]
    right = [each.posterior.argmax() == each.secret for each in rounds]
    for found in (sure, right):
        assert abs(np.mean(found) - expected) < 4 * np.std(found) / 16 + 1e-3
    assert expected < game.bound(0.5) < expected + 0.03


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        (SRPPSGDClassifier, {}),
        (SRPPSGDClassifier, {"loss": "hinge", "fit_intercept": False}),
        (
            SRPPSGDClassifier,
            {"scenario": DifferingRows(5), "clipping": Clipping(feature_bounds=[1e-9, 1, 1e9, 3])},
        ),
        (SRPPSGDClassifier, {"scenario": PrevalenceScenario(shares=(0.4, 0.5), n_draws=1)}),
        (
            SRPPSGDClassifier,
            {
                "class_weight": {0: 0.0, 1: 2.0},
                "batches": Batches(20, accounting="subsampling-aware"),
            },
        ),
        (SRPPSGDRegressor, {}),
        (
            SRPPSGDRegressor,
            {
                "loss": "huber",
                "learning_rate": LearningRate(momentum=0.9),
                "epochs": Epochs(1, average=True),
            },
        ),
    ],
)
def test_every_estimator_is_played(kind, params):
    """Budgets that hide little are seen through, and no more than they allow is found."""
    audit = run_audit(
        fitted(kind, budget=Renyi(14.0, 2.0), **params), n_trials=100, attacks=["map"]
    )
    (result,) = audit.results
    assert audit.passed
    assert result.success > 0.7
    assert result.prior == 0.5
    if "class_weight" not in params:
        assert 0 < audit.epsilon_refuted < audit.divergence <= 60.0
        assert Audit.from_json(audit.to_json()) == audit
        assert "is promised" in str(audit)


def test_noise_that_is_too_small_is_refuted(monkeypatch):
    """A run whose noise is a tenth of what is stated: by success, and by the divergence."""
    model = fitted(budget=1.0, **KNOWN)
    assert run_audit(model, n_trials=100, attacks=["map"]).passed
    honest = PrivateRun.noised_mean

    def leaking(run, total):
        return (honest(run, total) + 9 * total / run.accountant.cap.batch_size) / 10

    monkeypatch.setattr(PrivateRun, "noised_mean", leaking)
    audit = run_audit(model, n_trials=100, attacks=["map"])
    assert not audit.passed
    assert audit.violations
    assert audit.epsilon_refuted > audit.divergence
    with pytest.raises(AuditViolationError, match="refuted"):
        run_audit(model, n_trials=100, attacks=["map"], strict=True)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_what_was_not_fitted_with_noise_is_not_audited():
    for model in (SRPPSGDClassifier(), fitted(budget=NoiseMultiplier(0.0))):
        with pytest.raises(NotFittedError, match="guarantee"):
            run_audit(model)
