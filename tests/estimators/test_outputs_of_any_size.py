"""What is released hides the secret whatever the size of the numbers: every way to release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Answers, Nats, PACPrivate, PrivacySession, SRPPPrivate, Subsets
from pacsklearn.priors import Range
from pacsklearn.secrets import PoissonSubsets, release_sampled
from pacsklearn.srpp import GroupScenario, Scenario, SimulatorScenario
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, Worlds

EXPONENTS = [-1000, -600, 600, 1000]
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(120, 2))
Y = X @ [1.0, 2.0] + 0.1 * DRAW.normal(size=120)
# Every fit of scikit-learn's own at such sizes warns of squares that overflow.
BY_ITS_OWN = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@dataclass(frozen=True)
class Numbers(Scenario):
    """One number a secret; the secrets 0 and 1, 2 and 3, ... are pairs."""

    numbers: tuple[float, ...]
    protects = releases = "which number it is"
    stated = True

    @property
    def description(self) -> str:
        return f"Numbers({self.numbers})"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        n = len(self.numbers)
        return Worlds(
            secrets=tuple(f"s{i}" for i in range(n)),
            priors=("one",),
            worlds=tuple(DataWorld(np.array([[number]])) for number in self.numbers),
            laws=tuple(Law(i, 0, (i,)) for i in range(n)),
            pairs=tuple((i, i + 1) for i in range(0, n, 2)),
        )


def released(numbers: tuple[float, ...], true: int, epsilon: float = 0.01) -> SRPPPrivate:
    model = SRPPPrivate(lambda X: X[0, 0], budget=epsilon, scenario=Numbers(numbers))
    return model.fit(np.zeros((2, 1)), realized=f"s{true}")


def named(numbers: tuple[float, float], n: int) -> int:
    """How often the optimal attack names the secret: the nearer of both outputs."""
    hits = 0
    for trial in range(n):
        value = released(numbers, trial % 2).released_value_
        # Logarithms would not do: a noisy value may be negative.
        nearer = abs(value - numbers[0]) > abs(value - numbers[1])
        hits += int(nearer) == trial % 2
    return hits


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "numbers", [(1e-197, 3e-203), (1e155, -3e155), (2.0**-1000, 2.0**-999), (2.0**1000, 2.0**-1000)]
)
def test_the_secret_behind_a_tiny_or_huge_number_is_not_named(numbers: Any) -> None:
    """Blind guessing names 20 of 40; 38 and more have a probability below 1e-9 here."""
    guarantee = released(numbers, 0).guarantee_
    assert 0.0099 < guarantee.spent <= 0.01
    assert not guarantee.noiseless
    assert named(numbers, 40) < 38


@pytest.mark.soak
def test_a_product_of_400_densities_hides_its_group() -> None:
    group = np.repeat(["a", "b", "c"], 400)
    rows = DRAW.normal(size=(1200, 1)) + 0.1 * (group == "b")[:, None]

    def likelihood(X: Any) -> float:
        return float(np.prod(np.exp(-(X[:, 0] ** 2) / 2) / np.sqrt(2 * np.pi)))

    own = [likelihood(rows[group == name]) for name in "abc"]
    assert 0 < max(own) < 1e-160  # whose squares are zero
    hits = 0
    for trial in range(26):
        true = trial % 3
        model = SRPPPrivate(likelihood, budget=0.01, scenario=GroupScenario(n_draws=1))
        model.fit(rows, secret=group, realized="abc"[true])
        assert 0.0099 < model.guarantee_.spent <= 0.01
        hits += int(np.argmin(np.abs(model.released_value_ - np.array(own)))) == true
    # A third by blind guessing, 24 with a probability below 1e-9; exact releases named all.
    assert hits < 24


def test_pairs_that_agree_inside_are_not_said_to_agree_among_each_other() -> None:
    for size in (1.0, 2.0**-1000, 2.0**1000):
        numbers = tuple(np.array([0.2, 0.2, 0.6, 0.6]) * size)
        models = [released(numbers, true) for true in range(4)]
        values = [model.released_value_ for model in models]
        assert values[0] == values[1] != values[2] == values[3]
        assert models[0].guarantee_.spent == 0
        assert "no protected pair" in str(models[0].guarantee_)
        assert "whatever the secret" not in str(models[0].guarantee_)


@pytest.mark.soak
@pytest.mark.parametrize("exponent", [-600, 1000])
def test_tables_that_may_have_been_drawn_otherwise(exponent: int) -> None:
    def sample(secret: float, prior: str, generator: np.random.Generator) -> Any:
        return generator.normal(size=(20, 1)) + secret, None

    scenario = SimulatorScenario(sample, [0.0, 0.1], n_draws=200)
    table = DRAW.normal(size=(20, 1))
    model = SRPPPrivate(lambda X: np.ldexp(X.mean(), exponent), scenario=scenario, budget=2.0)
    model.fit(table)
    assert 0.1 < model.guarantee_.spent <= 2.0
    assert 1e-9 < abs(np.ldexp(model.released_value_, -exponent) - table.mean()) < 100


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_function_of_a_listed_secret(exponent: int) -> None:
    means = []

    def mean(X: Any) -> Any:
        means.append(X.mean(axis=0))
        return np.ldexp(means[-1], exponent)

    session = PrivacySession(X, budget=Nats(1.0), secret=Subsets(16))
    release = session.release_function(mean, budget=0.25)
    assert 0.24 < release.guarantee.spent <= 0.25
    value = np.ldexp(release.value, -exponent)
    assert np.all(np.isfinite(value))
    assert not any(np.allclose(value, each, rtol=1e-6) for each in means)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_function_of_a_sampled_secret(exponent: int) -> None:
    release = release_sampled(
        lambda rows: np.ldexp(X[rows, 0].mean(), exponent),
        PoissonSubsets(len(X)),
        budget=1 / 8,
        n_certificate=500,
    )
    assert 0.1 < release.guarantee.spent <= 1 / 8
    assert 1e-9 < abs(np.ldexp(release.value, -exponent)) < 10


@pytest.mark.product(only=4)
@BY_ITS_OWN
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(
    "estimator", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())]
)
def test_a_model(estimator: Any, exponent: int) -> None:
    y = np.ldexp(Y, exponent)
    bounds = tuple(np.ldexp([-8.0, 8.0], exponent))
    model = PACPrivate(
        estimator, budget=Nats(1.0), release=Answers(prior=Range(*bounds)), secret=Subsets(16)
    ).fit(X, y)
    assert 0.9 < model.guarantee_.spent <= 1.0
    # Over 300 fits the artanh of this correlation is 1.45 +- 0.13: 0.5 is 6.9 deviations away.
    assert np.corrcoef(np.ldexp(model.predict(X), -exponent), Y)[0, 1] > 0.5


@BY_ITS_OWN
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_answers_of_values(exponent: int) -> None:
    session = PrivacySession(X, np.ldexp(Y, exponent), budget=Nats(1.0), secret=Subsets(16))
    responder = session.responder(
        LinearRegression(),
        query_budget=1 / 16,
        prior=Range(*tuple(np.ldexp([-8.0, 8.0], exponent))),
    )
    answers = np.ldexp(responder.predict(X[:8]), -exponent)
    assert session.guarantee_.spent > 0
    assert np.all(np.abs(answers) < 100)
    assert np.all(np.abs(answers - Y[:8]) > 1e-9)
