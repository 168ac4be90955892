"""Choices as value objects: scikit-learn sets and copies them, and a bare value states one."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge

from pacsklearn import PACPrivate, SRPPPrivate
from pacsklearn.exceptions import BudgetError
from pacsklearn.plugins import registry
from pacsklearn.srpp import (
    Batches,
    Clipping,
    DiscrepancyCap,
    Epochs,
    GroupScenario,
    HuberLoss,
    LearningRate,
    Noise,
    NoiseMultiplier,
    Penalty,
    PrevalenceScenario,
    Renyi,
    Slices,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.parameters.stated import stated

VALUES = [
    Renyi(2.0, 8.0, allow_exact=True),
    NoiseMultiplier(3.0, 2.0),
    Slices(50, "orthogonal", aggregation="joint"),
    Noise("anisotropic", None),
    Batches(32, "without-replacement", "worst-case"),
    Clipping(0.5, [1.0, 2.0]),
    LearningRate(0.3, momentum=0.9),
    Epochs(3, average=True),
    Penalty("l1", 0.1),
    HuberLoss(1.5),
]
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_scikit_learn_copies_sets_and_compares_them(value: Any) -> None:
    copied = clone(value)
    assert copied is not value
    assert copied == value
    assert copied.get_params() == value.get_params()
    name, kept = next(iter(value.get_params().items()))
    assert copied.set_params(**{name: "another"}) != value
    assert getattr(value, name) == kept
    with pytest.raises(ValueError, match="nonsense"):
        copied.set_params(nonsense=1)
    assert type(value).__name__ in repr(value)


@pytest.mark.parametrize(
    ("kind", "most"), [(SRPPPrivate, 10), (SRPPSGDClassifier, 14), (SRPPSGDRegressor, 12)]
)
def test_estimators_have_few_parameters(kind: Any, most: int) -> None:
    assert len(signature(kind).parameters) == most


def test_nested_names_reach_into_what_was_given() -> None:
    model = SRPPPrivate(Ridge(), Renyi(1.0), slices=Slices(20))
    model.set_params(budget__order=8.0, slices__n=30)
    assert (model.budget, model.slices) == (Renyi(1.0, 8.0), Slices(30))
    descent = SRPPSGDRegressor(batches=Batches(10), learning_rate=LearningRate())
    descent.set_params(batches__sampling="with-replacement", learning_rate__eta0=0.2)
    assert clone(descent).get_params()["batches__sampling"] == "with-replacement"
    assert descent.learning_rate == LearningRate(0.2)


@pytest.mark.parametrize(
    ("kind", "bare"),
    [(Slices, 7), (Noise, "anisotropic"), (Batches, 7), (Clipping, 0.5), (LearningRate, 0.5),
     (Epochs, 7), (Penalty, None), (HuberLoss, 0.1)],
)  # fmt: skip
def test_a_bare_value_is_the_first_parameter(kind: type[BaseEstimator], bare: Any) -> None:
    assert stated(kind, bare, "argument") == kind(bare)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batches": 0}, "batches: size must be an integer of at least 1, got 0"),
        ({"batches": Batches(discrepancy=3)}, "batches: discrepancy must be .*DiscrepancyCap"),
        ({"epochs": Epochs(n=2, tol=-1.0)}, "epochs: tol must be"),
        ({"penalty": "l3"}, "penalty: kind must be one of"),
        ({"loss": HuberLoss(0.0)}, "loss: width must be"),
        ({"learning_rate": "fast"}, "learning_rate: eta0 must be"),
        ({"budget": NoiseMultiplier(-1.0)}, "budget: multiplier must be"),
        ({"budget": Renyi(1.0, order=1.0)}, "budget: order must be"),
    ],
)
def test_an_error_names_the_argument_and_what_is_wrong_in_it(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SRPPSGDRegressor(**options).fit(X, X[:, 0])


@pytest.mark.parametrize("budget", [True, "1", None, np.ones(2), Slices()])
def test_what_is_no_budget_is_refused(budget: Any) -> None:
    for model in (SRPPPrivate(Ridge(), budget), SRPPSGDRegressor(budget=budget)):
        with pytest.raises(BudgetError, match="budget must be a positive number of nats"):
            model.fit(X, X[:, 0], secret=Y)


def test_noise_given_is_for_gradient_descent_alone() -> None:
    with pytest.raises(BudgetError, match="NoiseMultiplier"):
        SRPPPrivate(Ridge(), NoiseMultiplier(2.0)).fit(X, X[:, 0], secret=Y)


def test_renyi_is_a_budget_that_no_release_about_rows_takes() -> None:
    loaded = registry().load("budget", "renyi")
    assert loaded(2.0).to_dict() == {"name": "renyi", **Renyi(2.0).get_params()}
    with pytest.raises(BudgetError, match="SRPPPrivate"):
        PACPrivate(Ridge(), budget=Renyi(2.0)).fit(X, X[:, 0])


def test_a_bare_number_is_of_order_four() -> None:
    guarantee = SRPPPrivate(Ridge(), 0.5).fit(X, X[:, 0], secret=Y).guarantee_
    assert (guarantee.costs.order, guarantee.costs.delta, guarantee.budget) == (4.0, 1e-5, 0.5)


def test_a_run_keeps_the_values_it_was_begun_with() -> None:
    """Steps of a run that goes on are the planned ones, whatever is set meanwhile."""
    rate, penalty = LearningRate(0.1, momentum=0.5), Penalty("l2", 0.01)
    model = SRPPSGDRegressor(
        budget=Renyi(50.0, allow_exact=True),
        batches=20,
        epochs=4,
        learning_rate=rate,
        penalty=penalty,
    )
    model.partial_fit(X, X[:, 0])
    rate.eta0, penalty.alpha = 1e3, 1e3
    model.partial_fit(X, X[:, 0])
    assert np.abs(model.coef_).max() < 1e3


def test_the_confidence_of_a_scenario_holds_for_gradient_descent_too() -> None:
    from pacsklearn.srpp import SimulatorScenario

    def drawn(secret: Any, prior: Any, rng: np.random.Generator) -> Any:
        rows = rng.normal(size=(60, 3))
        rows[: 1 + int(secret)] += 1.0
        return rows, rows[:, 0]

    scenario = SimulatorScenario(drawn, (0, 1), n_draws=30, confidence=0.99)
    model = SRPPSGDRegressor(
        budget=Renyi(1e4, allow_exact=True),
        scenario=scenario,
        batches=Batches(20, accounting="worst-case"),
        epochs=1,
    )
    assert model.fit(X, X[:, 0]).guarantee_.confidence == pytest.approx(0.99)


def test_a_cap_is_copied_with_its_batches() -> None:
    cap = DiscrepancyCap.differing(60, 2, 20, "poisson")
    assert clone(Batches(20, discrepancy=cap)).discrepancy == cap


@pytest.mark.parametrize("given", [np.array([654.25, 2.0, 3.0]), [654.25, 2, 3]])
@pytest.mark.parametrize(
    "fitted",
    [
        lambda X, given: SRPPPrivate(np.mean, Renyi(1.0, order=given)).fit(X),
        lambda X, given: SRPPPrivate(np.mean, Renyi(1.0, delta=given)).fit(X),
        lambda X, given: scenario_fit(X, PrevalenceScenario(shares=given)),
        lambda X, given: scenario_fit(X, PrevalenceScenario(value=given)),
        lambda X, given: scenario_fit(X, PrevalenceScenario(pairs=given)),
        lambda X, given: scenario_fit(X, GroupScenario(sizes=given)),
        lambda X, given: SRPPSGDRegressor(clipping=Clipping(feature_bounds=given)).fit(X, X[:, 0]),
    ],
)
def test_a_column_given_by_mistake_is_told_by_its_shape(fitted, given):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=r"\A(?!.*654)"):
        fitted(X, given)


def scenario_fit(X: Any, scenario: Any) -> Any:
    return SRPPPrivate(lambda X: X.mean(), scenario=scenario).fit(X, secret=X[:, 0] > 0)
