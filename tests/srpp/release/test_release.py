"""Releases of one secret on one ledger: when their divergences add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pacsklearn import SRPPPrivate
from pacsklearn._rehearsal import rehearsed
from pacsklearn.exceptions import BudgetExhaustedError, LedgerMismatchError, ScenarioError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.srpp import Noise, Renyi, Scenario, SliceProfile, Slices
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.release.calibrated_worlds import (
    SlicedOptions,
    StatedRows,
    calibrated_worlds,
    published_figures,
)
from pacsklearn.srpp.release.sliced_release import sliced_release
from pacsklearn.srpp.release.world_outputs import Query, drawn_world
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, Worlds

ORDER = 4.0
OPTIONS = SlicedOptions(Renyi(1.0, ORDER))
# Two data sets a secret: the coins agree under one secret, and differ under the other.
COINS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


@dataclass(frozen=True)
class TwoCoins(Scenario):
    protects = "whether two coins agree"
    releases = "one of them"
    description = "TwoCoins()"

    def worlds(self, X: Any, y: Any, secret: Any) -> Worlds:
        return coins()


def coins() -> Worlds:
    return Worlds(
        secrets=("agree", "differ"),
        priors=("fair",),
        worlds=tuple(DataWorld(row[None, :]) for row in COINS),
        laws=(Law(0, 0, (0, 1)), Law(1, 0, (2, 3))),
        pairs=((0, 1),),
    )


def first(X: Any) -> Any:
    return X[0, 0]


def second(X: Any) -> Any:
    return X[0, 1]


@pytest.mark.parametrize("aggregation", ["full", "joint", "average"])
@pytest.mark.parametrize(("epsilon", "excess"), [(1e-4, 1e-12), (1e-6, 1e-10)])
def test_next_to_order_one_a_release_is_charged_what_it_costs(aggregation, epsilon, excess):
    """Digits that a moment of nearly 1 loses, over ``order - 1``: 0 was stated, noise too small.

    Divergences grow with the order, and hardly change from 1 + 1e-3 to 1 here.
    """
    model = SRPPPrivate(lambda X: X.mean(axis=0), slices=Slices(20, aggregation=aggregation))
    X = np.random.default_rng(0).normal(size=(60, 3))
    near, above = (
        model.set_params(budget=Renyi(epsilon, order)).fit(X, secret=X[:, 0] > 0).guarantee_.costs
        for order in (1 + excess, 1 + 1e-3)
    )
    assert 0.999 * epsilon < near.of(aggregation) <= epsilon
    for view in ("average", "joint", "worst_slice", "full"):
        assert near.of(view) == pytest.approx(above.of(view), rel=2e-3)


def test_either_coin_alone_tells_nothing_and_needs_no_noise():
    for coin in (first, second):
        model = SRPPPrivate(coin, scenario=TwoCoins()).fit(np.zeros((2, 2)))
        assert model.guarantee_.spent == 0.0


def test_each_release_draws_a_data_set_of_its_own():
    """Both coins of one data set would tell: the second release must not be of the first's."""
    found = calibrated_worlds(
        Query.of_function(lambda X: X[0]), TwoCoins(), StatedRows(np.zeros((2, 2))), OPTIONS
    )
    drawn = [drawn_world(found.worlds, 0, SecureSampler()) for _ in range(60)]
    assert set(drawn) == {0, 1}


def test_published_figures_are_all_that_a_release_shows_of_its_law():
    """Whatever an adversary sees beside the numbers changes them; the secret's numbers do not."""
    query = Query.of_function(lambda X: np.array([X[0, 0], X[0, 0] + 3 * X[0, 1]]))
    found = calibrated_worlds(query, TwoCoins(), StatedRows(np.zeros((2, 2))), OPTIONS)
    law = found.law
    other = {
        "step": np.nextafter(law.step, 1),
        "axes": law.axes[::-1],
        "origin": np.nextafter(law.origin, 9),
        "scale": 2 * law.scale,
        "costs": replace(law.costs, full=np.nextafter(law.costs.full, 9)),
    }
    shown = {published_figures(found)}
    for name, value in other.items():
        assert np.any(value != getattr(law, name))
        shown.add(published_figures(replace(found, law=replace(law, **{name: value}))))
    shown.add(published_figures(replace(found, profile=SliceProfile.uniform(3))))
    assert len(shown) == 1 + len(other) + 1
    hidden = replace(law, centres=law.centres + 1)
    assert published_figures(replace(found, law=hidden)) in shown


def divergence(left: Any, right: Any, order: float) -> float:
    """Renyi divergence of two mixtures of standard Gaussians in the plane, on a fine grid."""
    axis = np.linspace(-12, 12, 1201)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)

    def density(means: Any) -> Any:
        parts = [np.exp(-np.sum((points - mean) ** 2, axis=-1) / 2) for mean in means]
        return np.mean(parts, axis=0) / (2 * np.pi)

    p, q = density(left), density(right)
    total = np.sum(p**order * q ** (1 - order)) * (axis[1] - axis[0]) ** 2
    return float(np.log(total) / (order - 1))


def whitened(law: SlicedLaw) -> Any:
    """Every world's output in units of the noise."""
    return law.centres[:, 0] / law.scale


@pytest.mark.product(only=1)
@pytest.mark.parametrize("seed", range(4))
def test_charges_bound_the_divergence_of_two_releases_together(seed):
    """Given the secret the two data sets are independent, so all four pairs of outputs occur."""
    generator = np.random.default_rng(seed)
    outputs = COINS + 0.3 * generator.normal(size=COINS.shape)
    profile = SliceProfile(np.ones((1, 1)))
    target = SlicedTarget(0.4, ORDER, "average", profile)
    laws = [sliced_law(outputs[:, [j]], coins(), target) for j in (0, 1)]
    one, two = (whitened(law) for law in laws)
    secrets = [np.array([(one[i], two[j]) for i in law for j in law]) for law in ((0, 1), (2, 3))]
    assert divergence(*secrets, ORDER) <= sum(law.cost for law in laws)


def test_on_one_data_set_they_would_not():
    profile = SliceProfile(np.ones((1, 1)))
    outputs = COINS + np.array([[0.0, 0.0], [0.0, 0.0], [0.05, 0.0], [0.0, 0.05]])
    target = SlicedTarget(0.4, ORDER, "average", profile)
    laws = [sliced_law(outputs[:, [j]], coins(), target) for j in (0, 1)]
    together = np.stack([whitened(law) for law in laws], axis=1)
    assert np.ptp(together) > 8  # coins stand out of such noise
    assert divergence(together[:2], together[2:], ORDER) > 10 * sum(law.cost for law in laws)


def both(X: Any) -> Any:
    return X[0]


class Spy:
    """A sampler that notes how much was charged when it was asked."""

    is_secure = True

    def __init__(self) -> None:
        self.ledger: Any = None
        self.seen: list[tuple[str, float]] = []
        self._own = SeededSampler(np.random.default_rng(0))

    def index(self, weights: Any) -> int:
        self.seen.append(("index", self.ledger.spent))
        return self._own.index(weights)

    def noise(self, size: int) -> Any:
        self.seen.append(("noise", self.ledger.spent))
        return self._own.noise(size)


def released(
    query: Any, scenario: Any = None, realized: Any = None, ledger: Any = None, **params: Any
) -> tuple[Any, Spy]:
    """One release, and what its sampler saw."""
    spy, scenario = Spy(), scenario or TwoCoins()
    unit = OPTIONS.unit(None, scenario, None)
    spy.ledger = MemoryLedger(5.0, unit) if ledger is None else ledger
    release = sliced_release(
        Query.of_function(query), scenario, StatedRows(COINS, realized=realized), OPTIONS,
        fitting=FitOptions(fit_params=params), ledger=spy.ledger, sampler=spy, provenance=(),
    )  # fmt: skip
    return release, spy


def test_everything_is_charged_before_the_secret_is_drawn() -> None:
    """First the secret, then its data set, then the noise: all of them are paid for by then."""
    release, spy = released(both)
    cost = release.event.charge
    assert spy.seen == [("index", cost), ("index", cost), ("noise", cost)]
    assert 0.99 < cost <= 1.0
    event, guarantee = release.event, release.guarantee
    assert (event.n_candidates, event.n_outputs, event.n_noisy) == (4, 2, 2)
    assert (event.bound, event.backend, event.kind) == (cost, "isotropic", "sliced")
    assert (guarantee.charged, guarantee.n_releases, guarantee.budget) == (cost, 1, 1.0)
    assert (event.aggregation, event.order) == ("full", ORDER)
    assert event.full == guarantee.costs.full == cost
    assert event.average == guarantee.costs.average <= event.joint
    assert (event.joint, event.worst_slice) == (
        guarantee.costs.joint, guarantee.costs.worst_slice,
    )  # fmt: skip
    assert release.noise_power == release.released_power > 0


def test_a_stated_secret_is_not_drawn_and_a_release_of_nothing_has_no_noise() -> None:
    release, spy = released(first, realized="differ")
    assert spy.seen == [("index", 0.0)]
    assert (release.event.n_noisy, release.event.charge, release.value) in {
        (0, 0.0, 0.0),
        (0, 0.0, 1.0),
    }
    assert release.guarantee.noiseless


def test_what_is_wrong_is_said_before_anything_is_charged() -> None:
    small = MemoryLedger(0.5, released(both)[1].ledger.unit)
    for ledger, options, error in (
        (small, {}, BudgetExhaustedError),
        (MemoryLedger(5.0, "another unit"), {}, LedgerMismatchError),
        (MemoryLedger(5.0), {"realized": "neither"}, ScenarioError),
    ):
        with pytest.raises(error):
            released(both, ledger=ledger, **options)
        assert ledger.events == ()


@dataclass(frozen=True)
class OneTable(TwoCoins):
    """Tables are drawn from a law, and the release is made on the one given."""

    redrawn = False


def test_on_a_table_nothing_is_taken_that_only_training_sets_take() -> None:
    with pytest.raises(ScenarioError, match="do not add up"):  # a ledger is given
        released(both, OneTable())
    for stated in ({"realized": "agree"}, {"secret": COINS[:, 0]}):
        with pytest.raises(ScenarioError, match=f"takes no {next(iter(stated))} here"):
            SRPPPrivate(both, scenario=OneTable()).fit(COINS, **stated)
    with pytest.raises(ScenarioError, match="leave"):
        sliced_release(
            Query.of_function(both), OneTable(), StatedRows(COINS), OPTIONS,
            fitting=FitOptions(fit_params={"b": 1, "a": 2}), ledger=None, sampler=Spy(),
            provenance=(),
        )  # fmt: skip
    options = replace(OPTIONS, noise=Noise("anisotropic"), slices=Slices(aggregation="average"))
    with pytest.raises(ValueError, match="noise"):
        calibrated_worlds(Query.of_function(both), OneTable(), StatedRows(None), options)


def test_a_calibration_shows_nothing_of_its_data_sets() -> None:
    found = calibrated_worlds(Query.of_function(both), TwoCoins(), StatedRows(COINS), OPTIONS)
    assert repr(found) == "CalibratedWorlds(...)"
    assert found.outputs.vectors.tolist() == COINS.tolist()


def test_what_follows_a_sliced_release_is_tried_before_it_is_charged() -> None:
    model = SRPPPrivate(LogisticRegression(), secret_name="y")
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    tried = []

    def check(decoded: Any) -> None:
        tried.append(decoded.coef_.shape)
        raise OSError("the disk is full")

    ledger = MemoryLedger(5.0, model.ledger_unit(3))
    with rehearsed(check), pytest.raises(OSError, match="disk"):
        model.set_params(ledger=ledger).fit(X, y)
    assert tried == [(1, 2)]
    assert ledger.events == ()
