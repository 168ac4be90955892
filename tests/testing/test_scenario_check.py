"""The contract check finds scenarios whose list, law or release depends on what is true."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pacsklearn.srpp import GroupScenario, PrevalenceScenario, Scenario, SimulatorScenario
from pacsklearn.srpp.scenarios.scenario import Law, RowWorld, World, Worlds
from pacsklearn.testing import check_scenario

GENERATOR = np.random.default_rng(0)

pytestmark = pytest.mark.usefixtures("few_draws")
X = GENERATOR.normal(size=(60, 2))
COLUMN = np.arange(60) % 3 == 0


def simulate(secret: float, prior: Any, rng: Any) -> Any:
    return rng.normal(size=(40, 2)) + secret, None


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "scenario",
    [
        PrevalenceScenario(n_draws=2),
        PrevalenceScenario(shares=(0.2, 0.4), n_draws=1),
        GroupScenario(n_draws=2),
    ],
)
def test_built_in_scenarios_of_a_universe(scenario):
    check_scenario(scenario, X, secret=COLUMN)


@pytest.mark.soak
@pytest.mark.parametrize(
    "scenario",
    [
        PrevalenceScenario(reference=(X, None, COLUMN), n_draws=100),
        SimulatorScenario(simulate, secrets=(0.0, 0.2), n_draws=100),
    ],
)
def test_built_in_scenarios_of_a_law(scenario):
    check_scenario(scenario, X)


@dataclass(frozen=True)
class Halves(Scenario):
    """Which half of the rows: sound."""

    protects = "which half of the rows it is about"
    releases = "their means"
    description = "Halves()"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        n = X.shape[0] // 2
        return self.listed(RowWorld(np.arange(n)), RowWorld(np.arange(n, 2 * n)))

    def listed(self, *worlds: World) -> Worlds:
        laws = (Law(0, 0, (0,)), Law(1, 0, (1,)))
        return Worlds(("first", "second"), ("none",), worlds, laws, ((0, 1),))


@dataclass(frozen=True)
class AnotherListEachTime(Halves):
    calls: Any = field(default_factory=lambda: iter(range(1000)))

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        rows = np.random.default_rng(next(self.calls)).permutation(X.shape[0])
        return self.listed(RowWorld(rows[:30]), RowWorld(rows[30:]))


class Moved(World):
    """Rows moved by a number."""

    rows = None

    def __init__(self, shift: float) -> None:
        self.shift = shift

    def data(self, X: Any, y: Any) -> Any:
        return X + self.shift, y


@dataclass(frozen=True)
class AnotherLawEachTime(Halves):
    """The list looks the same in every call; what its data sets hold does not."""

    calls: Any = field(default_factory=lambda: iter(range(1000)))

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        return self.listed(Moved(0.0), Moved(1.0 + 1e-6 * next(self.calls)))


@dataclass(frozen=True)
class Telling(Halves):
    seen: Any = field(default_factory=lambda: iter(range(1000)))

    @property
    def protects(self) -> str:  # type: ignore[override]
        return f"seen {next(self.seen)}"


@dataclass(frozen=True)
class Silent(Halves):
    description = ""


@dataclass(frozen=True)
class Writing(Halves):
    """Lists the same in every call, and writes the same into the table: found by nothing else."""

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        X[0] = 0.0
        return super().worlds(X, y, secret)


def test_a_sound_plugin():
    check_scenario(Halves(), X)


@pytest.mark.parametrize(
    ("scenario", "rule"),
    [
        (AnotherListEachTime(), "list"),
        (AnotherLawEachTime(), "law"),
        (Telling(), "guarantee"),
        (Silent(), "form"),
        (Writing(), "list"),
    ],
)
def test_broken_plugins_are_named(scenario, rule):
    with pytest.raises(AssertionError, match=f"Rule broken: {rule}"):
        check_scenario(scenario, X.copy())


def test_what_is_no_scenario():
    with pytest.raises(AssertionError, match="Scenario"):
        check_scenario({}, X)  # type: ignore[arg-type]
