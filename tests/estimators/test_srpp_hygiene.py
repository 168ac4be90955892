"""What leaves a sliced release: no row, no world's output, not which secret is true."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from pacsklearn import SRPPPrivate
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.plugins import registry
from pacsklearn.srpp import GroupScenario, PrevalenceScenario
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.release.calibrated_worlds import CalibratedWorlds
from pacsklearn.srpp.release.world_outputs import Query, world_outputs
from pacsklearn.srpp.scenarios.scenario import SecretColumn, World, Worlds
from tests.estimators.reachable import reachable

GROUPS = np.array(["Zinnober", "Karmesin"])


@pytest.fixture(scope="module")
def data() -> Any:
    generator = np.random.default_rng(7)
    X = generator.normal(size=(80, 4))
    y = (X[:, 0] + 0.3 * generator.normal(size=80) > 0).astype(int)
    return X, y, GROUPS[generator.integers(0, 2, 80)]


def traces(array: Any) -> Iterator[bytes]:
    for row in np.atleast_2d(np.asarray(array, dtype=float)):
        yield row.tobytes()
        yield row.astype(np.float32).tobytes()
        for value in row:
            if len(repr(float(value))) >= 10:
                yield repr(float(value)).encode()


def found(haystack: bytes, array: Any) -> list[bytes]:
    return [needle for needle in traces(array) if needle in haystack]


def enumerated(model: Any, scenario: Any, data: Any) -> tuple[Worlds, Any]:
    X, y, group = data
    worlds = scenario.worlds(X, y, SecretColumn(group))
    query = Query.of_model(model, registry().canonicalizer_for(model))
    return worlds, world_outputs(query, worlds, X, y, {}).vectors


@pytest.mark.parametrize(
    ("scenario", "realized"),
    [(PrevalenceScenario(n_draws=2), None), (GroupScenario(n_draws=3), "Karmesin")],
    ids=["prevalence", "group"],
)
@pytest.mark.parametrize("model", [LogisticRegression(), Ridge()], ids=["logistic", "ridge"])
def test_nothing_secret_is_in_what_leaves(model, scenario, realized, data):
    X, y, group = data
    private = SRPPPrivate(model, scenario=scenario, budget=2.0)
    private.fit(X, y, secret=group, realized=realized)
    worlds, vectors = enumerated(model, scenario, data)
    leaving = {
        "estimator": pickle.dumps(private),
        "released_estimator_": pickle.dumps(private.released_estimator_),
        "guarantee_": pickle.dumps(private.guarantee_),
        "texts": (
            repr(private)
            + str(private.guarantee_)
            + private._repr_html_()
            + private.guarantee_.to_json()
        ).encode(),
    }
    for place, haystack in leaving.items():
        assert not found(haystack, X), place
        assert not found(haystack, vectors), place
        assert not any(name.encode() in haystack for name in GROUPS), place
        assert not any(world.rows.tobytes() in haystack for world in worlds.worlds), place
    for item in reachable(vars(private)):
        assert not isinstance(item, World | Worlds | SlicedLaw | CalibratedWorlds | SecretColumn)


def test_the_scan_would_see_a_leak(data):
    X, y, group = data
    private = SRPPPrivate(Ridge()).fit(X, y, secret=group)
    private.leak_ = X[2]
    assert found(pickle.dumps(private), X)


def test_what_knows_the_secret_is_gone_after_a_fit(data, monkeypatch):
    made: list[Any] = []
    original = SlicedLaw.observe

    def watching(self: Any, *args: Any) -> Any:
        made.append(weakref.ref(self))
        return original(self, *args)

    monkeypatch.setattr(SlicedLaw, "observe", watching)
    private = SRPPPrivate(Ridge()).fit(*data[:2], secret=data[2])
    gc.collect()
    assert len(made) == 1
    assert made[0]() is None
    assert hasattr(private, "guarantee_")


def test_errors_quote_nothing(data):
    X, y, group = data

    def failing(X: Any, y: Any) -> Any:
        raise ValueError(f"row {X[0]}")

    with pytest.raises(SubsetFitError) as caught:
        SRPPPrivate(failing, scenario="group").fit(X, y, secret=group, realized="Karmesin")
    text = str(caught.value)
    assert "withheld" in text
    assert "row [" not in text
    assert "Karmesin" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_world_is_computed_from_its_own_rows_alone(data):
    """Rows that a world does not hold may be anything: its output stays the same."""
    X, y, _group = data
    scenario = GroupScenario(n_draws=2)
    model = LogisticRegression()
    worlds, vectors = enumerated(model, scenario, data)
    own = np.unique(worlds.worlds[0].rows)
    others = np.setdiff1d(np.arange(80), own)
    changed = X.copy()
    changed[others] += 100.0
    query = Query.of_model(model, registry().canonicalizer_for(model))
    again = world_outputs(query, worlds, changed, y, {}).vectors
    np.testing.assert_array_equal(again[0], vectors[0])
    assert not np.array_equal(again, vectors)


def test_the_rows_given_stay_as_they_are(data):
    X, y, _group = copy.deepcopy(data)
    SRPPPrivate(Ridge(), scenario=PrevalenceScenario()).fit(X, y, secret=y)
    np.testing.assert_array_equal(X, data[0])
    np.testing.assert_array_equal(y, data[1])


def test_all_that_depends_on_the_secret_are_whole_numbers_with_exact_noise(data, monkeypatch):
    """The released numbers are a public function of integers: world's centre plus noise."""
    X, y, group = data
    seen: dict[str, Any] = {}
    original = SlicedLaw.observe

    def watching(self: Any, centre: Any, sampler: Any) -> Any:
        seen.update(law=self, observed=original(self, centre, sampler))
        return seen["observed"]

    monkeypatch.setattr(SlicedLaw, "observe", watching)
    drawn: list[int] = []
    exact = SecureSampler.noise

    def sampling(self: Any, size: int) -> Any:
        drawn.append(size)
        seen["noise"] = exact(self, size)
        return seen["noise"]

    monkeypatch.setattr(SecureSampler, "noise", sampling)
    value = SRPPPrivate(lambda X, y: X.mean(axis=0)).fit(X, y, secret=group).released_value_
    assert drawn == [4]
    assert seen["noise"].dtype == seen["observed"].dtype == np.int64
    np.testing.assert_array_equal(value, seen["law"].decode(seen["observed"]))
    directions = np.linalg.pinv(seen["law"].axes)
    grid = (value - seen["law"].origin) @ directions / seen["law"].step
    np.testing.assert_allclose(grid, np.rint(grid), atol=1e-3)
    assert seen["law"].scale == LATTICE_SCALE


def test_a_group_release_draws_its_data_set_in_secret(data, monkeypatch):
    X, y, group = data
    worlds: list[int] = []
    original = SlicedLaw.observe

    def watching(self: Any, centre: Any, noise: Any) -> Any:
        worlds.append(int(np.flatnonzero((self.centres == centre).all(axis=1))[0]))
        return original(self, centre, noise)

    monkeypatch.setattr(SlicedLaw, "observe", watching)
    scenario = GroupScenario(n_draws=2)
    for _ in range(32):  # one of two worlds stays unseen once in 2e9 runs
        private = SRPPPrivate(lambda X, y: X.mean(axis=0), scenario=scenario, slices=5)
        private.fit(X, y, secret=group, realized="Zinnober")
    # Secrets are in alphabetical order; the second has the worlds 2 and 3.
    assert set(worlds) == {2, 3}


def test_functions_are_queries_too(data):
    X, y, group = data
    worlds = GroupScenario(n_draws=1).worlds(X, y, SecretColumn(group))
    found = world_outputs(Query.of_function(lambda X: X.mean(axis=0)), worlds, X, y, {})
    np.testing.assert_allclose(found.vectors[0], X[group == "Karmesin"].mean(axis=0))
    assert found.first.layout.size == 4
