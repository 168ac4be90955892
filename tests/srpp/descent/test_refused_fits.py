"""What a refused call leaves: the model that was paid for, and no charge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pacsklearn.exceptions import BudgetExhaustedError, PrivacyLeakWarning, ScenarioError
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.srpp import (
    Batches,
    Epochs,
    GroupScenario,
    NoiseMultiplier,
    PrevalenceScenario,
    Renyi,
    SimulatorScenario,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.descent.descent import Penalty
from pacsklearn.universe.open_ledger import open_ledger

pytestmark = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.RepeatedReleaseWarning")

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
STOPPING = {
    "budget": Renyi(4.0),
    "batches": 128,
    "epochs": Epochs(4, early_stopping=True),
    "secret_name": "cancer",
}
BROKEN = {
    "rows": np.full(100, np.nan),
    "length": np.ones(50),
    "texts": np.array(["a", "b"] * 50),
    "columns": np.ones((100, 2)),
    "nothing": None,
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("kind", [SRPPSGDClassifier, SRPPSGDRegressor])
@pytest.mark.parametrize("targets", BROKEN.values(), ids=BROKEN)
def test_public_rows_that_cannot_be_scored_are_found_before_a_charge(kind, targets, tmp_path):
    known = {"classes": [0, 1]} if kind is SRPPSGDClassifier else {}
    path = f"sqlite:///{tmp_path}/account.db"
    model = kind(**STOPPING, **known, ledger=path)
    SharedLedger.found(path, 10.0, unit=model.ledger_unit)
    with pytest.raises(ValueError, match="public_validation cannot be scored"):
        model.fit(X, Y, public_validation=(X[:100], targets))
    assert open_ledger(path, ceiling=None, unit=model.ledger_unit).spent == 0.0
    assert not hasattr(model, "coef_")


def test_public_rows_of_other_columns_are_found_before_a_step():
    frame = pd.DataFrame(X).add_prefix("c")
    model = SRPPSGDClassifier(**STOPPING, classes=[0, 1])
    with pytest.raises(ValueError, match="public_validation cannot be scored: The feature names"):
        model.fit(frame, Y, public_validation=(frame.add_prefix("x"), Y))


def test_a_second_call_that_is_refused_keeps_the_model_that_was_paid_for():
    model = SRPPSGDClassifier(budget=4.0, batches=128, epochs=2, classes=[0, 1]).fit(X, Y)
    labels, statement, steps = model.predict(X), str(model.guarantee_), model.n_steps_
    for call, message in (
        (lambda: model.fit(X[:, :3], np.full(len(Y), 7)), "not among the classes"),
        (lambda: model.fit(X, Y, np.ones(3)), "sample_weight"),
        (lambda: model.fit(X, Y, realized=1), "takes no realized"),
        (lambda: model.fit(X, Y, secret=Y), "takes no secret"),
        (lambda: model.partial_fit(X[:, :3], Y), "X has 3 features"),
        (lambda: model.partial_fit(X, Y + 5), "not among the classes"),
        (lambda: model.partial_fit(X, Y), "budget"),
    ):
        with pytest.raises((ValueError, BudgetExhaustedError), match=message):
            call()
        assert np.array_equal(model.predict(X), labels)
        assert (str(model.guarantee_), model.n_steps_) == (statement, steps)
        assert np.array_equal(model.released_estimator_.predict(X), labels)


@pytest.mark.parametrize("interrupted", [1, 3])
def test_an_interrupted_step_is_stated(interrupted, monkeypatch):
    """The model may have moved by then: a step that is not counted would be in it for nothing."""
    shrink, calls = Penalty.shrink, []

    def stop(self, *arguments):
        calls.append(arguments)
        if len(calls) == interrupted:
            raise KeyboardInterrupt
        shrink(self, *arguments)

    monkeypatch.setattr(Penalty, "shrink", stop)
    model = SRPPSGDClassifier(budget=4.0, batches=128, epochs=2, classes=[0, 1])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_steps_ == interrupted
    assert f"{interrupted} step" in str(model.guarantee_)
    assert np.any(model.coef_ != 0)


def test_a_first_call_that_is_refused_leaves_nothing():
    model = SRPPSGDClassifier(budget=4.0, batches=128)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, Y + 5, classes=[0, 1, 2])
    assert not hasattr(model, "classes_")
    model.partial_fit(X, Y, classes=[0, 1])


def test_noise_beyond_what_can_be_accounted_for_is_refused_by_name():
    with pytest.raises(ValueError, match="multiplier"):
        SRPPSGDRegressor(budget=NoiseMultiplier(1e30)).fit(X, Y)


def test_classes_that_are_no_labels_are_named():
    with pytest.raises(ValueError, match="classes must have at least two"):
        SRPPSGDClassifier(classes="ab").fit(X, Y)


def draw(secret, prior, rng):
    return rng.normal(size=(40, 2)) + secret, np.zeros(40)


SIMULATED = {"sample": draw, "secrets": [0.0, 1.0], "n_draws": 200}


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (lambda: SimulatorScenario(**SIMULATED | {"secrets": 5}), "secrets must be a list"),
        (lambda: SimulatorScenario(**SIMULATED | {"priors": 3}), "priors must be a list"),
        (lambda: SimulatorScenario(**SIMULATED, pairs=iter([(0.0, 1.0)])), "pairs must be a list"),
        (lambda: GroupScenario(pairs=iter([("0", "1")])), "pairs must be a list"),
        (lambda: SimulatorScenario(**SIMULATED, confidence=1), "confidence must be a number"),
        (lambda: SimulatorScenario(**SIMULATED, confidence=1 - 1e-12), "at most 1 - 1e-8"),
        (lambda: PrevalenceScenario(reference=(None, None, None)), "reference must have a table"),
        (lambda: PrevalenceScenario(reference=(X, Y[:5], Y)), "reference must have a table"),
    ],
)
def test_scenarios_that_are_called_wrongly_say_so(scenario, message):
    def called():
        made = scenario()
        column = {"secret": Y[:40]} if made.redrawn else {}
        SRPPSGDRegressor(scenario=made).fit(X[:40, :2], Y[:40], **column)

    with pytest.raises((ScenarioError, ValueError), match=message):
        called()


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        (np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]"), "nan or infinite"),
        (np.array([1, "1"] * 20, dtype=object), "read alike"),
    ],
)
def test_secret_columns_that_are_unclear_are_refused(secret, message):
    with pytest.raises(ScenarioError, match=message):
        SRPPSGDRegressor(scenario=GroupScenario()).fit(X[:40], Y[:40], secret=secret)


def test_the_true_secret_is_one_value():
    model = SRPPSGDRegressor(scenario=PrevalenceScenario(shares=(0.3, 0.4), n_draws=2))
    with pytest.raises(ScenarioError, match="realized must be the one secret"):
        model.fit(X, Y, secret=Y, realized=Y)


def test_simulators_may_return_lists_and_targets_of_several_columns():
    def lists(secret, prior, rng):
        rows = rng.normal(size=(40, 2))
        rows[0] += secret
        return rows.tolist(), rows.tolist()

    scenario = SimulatorScenario(lists, [0.0, 1.0], n_draws=200)
    with pytest.warns(PrivacyLeakWarning):
        model = SRPPSGDRegressor(
            scenario=scenario,
            budget=NoiseMultiplier(500.0),
            batches=Batches(20, accounting="worst-case"),
            random_state=0,
        ).fit(X[:40, :2], Y[:40])
    assert model.guarantee_.spent > 0
