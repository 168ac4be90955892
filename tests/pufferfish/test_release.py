"""Releases of one secret on one ledger: when their divergences add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pacsklearn import Scenario, SliceProfile, SRPPPrivate
from pacsklearn.core.scenario import Law, Worlds
from pacsklearn.core.sliced_law import SlicedLaw
from pacsklearn.noise.sampler import SecureSampler
from pacsklearn.noise.sliced_gaussian import sliced_law
from pacsklearn.noise.sliced_target import SlicedTarget
from pacsklearn.pufferfish.release import SlicedOptions, calibrated_worlds, published_figures
from pacsklearn.pufferfish.world_outputs import FunctionQuery
from pacsklearn.scenarios.data_world import DataWorld

ORDER = 4.0
OPTIONS = SlicedOptions(1.0, ORDER, "full", "isotropic", SliceProfile.uniform, 1e-5)
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


def test_either_coin_alone_tells_nothing_and_needs_no_noise():
    for coin in (first, second):
        model = SRPPPrivate(coin, scenario=TwoCoins()).fit(np.zeros((2, 2)))
        assert model.guarantee_.spent == 0.0


def test_each_release_draws_a_data_set_of_its_own():
    """Both coins of one data set would tell: the second release must not be of the first's."""
    found = calibrated_worlds(
        FunctionQuery(lambda X: X[0]), TwoCoins(), np.zeros((2, 2)), None, None, OPTIONS
    )
    drawn = [found.world(0, SecureSampler()) for _ in range(60)]
    assert set(drawn) == {0, 1}


def test_published_figures_are_all_that_a_release_shows_of_its_law():
    """Whatever an adversary sees beside the numbers changes them; the secret's numbers do not."""
    query = FunctionQuery(lambda X: np.array([X[0, 0], X[0, 0] + 3 * X[0, 1]]))
    found = calibrated_worlds(query, TwoCoins(), np.zeros((2, 2)), None, None, OPTIONS)
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
