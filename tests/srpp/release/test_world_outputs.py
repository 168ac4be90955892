"""What a query computes on one data set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.exceptions import (
    NonDeterministicError,
    PacsklearnError,
    StructureMismatchError,
    SubsetFitError,
)
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.outputs.outputs import CHECKED_ROWS, CanonicalForm
from pacsklearn.plugins import registry
from pacsklearn.srpp import Scenario, SRPPPrivate
from pacsklearn.srpp.release.world_outputs import (
    Query,
    drawn_world,
    own_output,
    true_secret,
    world_outputs,
)
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, RowWorld, World, Worlds

X, Y = np.arange(6.0).reshape(3, 2), np.array([7.0, 8.0, 9.0])


@pytest.mark.parametrize(
    ("function", "takes_y"),
    [
        (lambda X: X.sum(), False),
        (lambda X, y: X.sum() + y.sum(), True),
        (lambda X, y, scale=1.0: X.sum() + y.sum() * scale, True),
        (lambda X, scale=1.0: X.sum() * scale, False),
        (lambda X, *, scale=1.0: X.sum() * scale, False),
        (lambda *data: sum(each.sum() for each in data), True),
    ],
)
def test_a_function_gets_the_target_where_it_has_a_place_for_it(function, takes_y) -> None:
    expected = X.sum() + Y.sum() * takes_y
    assert Query.of_function(function).fit(X, Y, {}) == expected


def test_a_built_in_function_without_a_signature_gets_the_rows_alone() -> None:
    assert Query.of_function(max).fit([3.0, 5.0], Y, {}) == 5.0


class Unaligned(Canonicalizer):
    """Its numbers cannot be brought into one form, not even several copies of the first."""

    def encode(self, estimator, X):
        return Encoding(np.array([estimator]), Layout.of({"value": [0.0]}))

    def align(self, vectors, layout):
        raise ValueError(f"{vectors[0, 0]} is a secret")

    def decode(self, vector, layout, template):
        return vector

    def behaviour(self, estimator, X):
        return np.abs(estimator)


def summed(canonicalizer):
    """The sum of all entries, in a form of its own."""
    form = CanonicalForm(BaseEstimator(), canonicalizer)
    return Query("sum", lambda X, y, params: X.sum(), form, is_model=False)


@pytest.mark.parametrize("some_may_fail", [False, True])
def test_a_first_data_set_that_cannot_be_aligned_is_an_error_that_quotes_nothing(
    some_may_fail,
) -> None:
    query = summed(Unaligned())
    with pytest.raises(PacsklearnError, match="align") as caught:
        world_outputs(query, listed(*ROWS[:2]), X, Y, {}, some_may_fail=some_may_fail)
    assert "secret" not in str(caught.value)


ROWS = (RowWorld(np.array([0, 1])), RowWorld(np.array([2, 1])), RowWorld(np.array([0, 2])))


def listed(*worlds: World) -> Worlds:
    laws = (Law(0, 0, (0,)), Law(1, 0, tuple(range(1, len(worlds)))))
    return Worlds(("a", "b"), ("p",), worlds, laws, ((0, 1),))


def total(X: Any) -> Any:
    return X.sum(axis=0)


def test_each_vector_is_what_the_function_gives_on_that_data_set() -> None:
    query = Query.of_function(total)
    for some_may_fail in (False, True):
        found = world_outputs(query, listed(*ROWS), X, Y, {}, some_may_fail=some_may_fail)
        expected = [X[world.rows].sum(axis=0) for world in ROWS]
        np.testing.assert_array_equal(found.vectors, expected)
        np.testing.assert_array_equal(found.first.vector, expected[0])
        np.testing.assert_array_equal(found.rows, X[ROWS[0].rows])
        assert found.failed.tolist() == [False] * 3
        assert isinstance(found.metric, IdentityMetric)
        own = own_output(query, found, X, Y)
        np.testing.assert_array_equal(own, X.sum(axis=0))


def test_parameters_of_fit_follow_the_rows_of_listed_data_sets() -> None:
    """A data set that brings its own rows takes none that were meant for others."""
    weights = np.array([1.0, 10.0, 100.0])
    query = Query.of_model(LinearRegression(), registry().canonicalizer_for(LinearRegression()))
    asked: list[Any] = []

    def fit(X: Any, y: Any, params: Any) -> Any:
        asked.append({name: value.tolist() for name, value in params.items()})
        return LinearRegression().fit(X, y)

    query = replace(query, fit=fit)
    worlds = listed(*ROWS[:2], DataWorld(X[1:], Y[1:]))
    world_outputs(query, worlds, X, Y, {"sample_weight": weights})
    # The first one twice: a computation that gives two results on it is refused.
    expected = [weights[[0, 1]], weights[[0, 1]], weights[[2, 1]]]
    assert asked == [{"sample_weight": each.tolist()} for each in expected] + [{}]


def test_two_results_on_one_data_set_are_refused() -> None:
    results = iter(range(99))
    with pytest.raises(NonDeterministicError, match="results"):
        world_outputs(Query.of_function(lambda X: float(next(results))), listed(*ROWS), X, Y, {})


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        (lambda X: np.full(2, np.nan), SubsetFitError, "infinite"),
        (lambda X: np.zeros(3), StructureMismatchError, "structure"),
        (lambda X: 1 / 0, SubsetFitError, "ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_data_set_without_a_usable_vector(bad: Any, error: Any, words: str, at: int) -> None:
    """An error where data sets are listed; noted where they are drawn, but for the first."""

    def function(X: Any) -> Any:
        is_bad = np.array_equal(X, X0[ROWS[at].rows])
        return bad(X) if is_bad else total(X)

    X0 = X
    query, worlds = Query.of_function(function), listed(*ROWS)
    with pytest.raises(error, match=words):
        world_outputs(query, worlds, X, Y, {})
    if at == 0 and error is SubsetFitError:
        with pytest.raises(error, match=words):
            world_outputs(query, worlds, X, Y, {}, some_may_fail=True)
    elif at == 1:
        found = world_outputs(query, worlds, X, Y, {}, some_may_fail=True)
        assert found.failed.tolist() == [False, True, False]
        np.testing.assert_array_equal(found.vectors[1], found.first.vector)
        np.testing.assert_array_equal(found.vectors[2], total(X[ROWS[2].rows]))
        assert own_output(query, found, X[ROWS[1].rows], None) is None


def test_nothing_to_release_is_said() -> None:
    with pytest.raises(SubsetFitError, match="numbers"):
        world_outputs(Query.of_function(lambda X: np.empty(0)), listed(*ROWS), X, Y, {})


class Signed(Unaligned):
    """The sign is a matter of form: that of most is taken."""

    def align(self, vectors, layout):
        return vectors * np.sign(vectors) * np.sign(np.sign(vectors).sum())


def test_drawn_data_sets_are_aligned_with_the_first_alone() -> None:
    """With all of them together a vector would depend on what else was drawn."""
    signs = listed(*(DataWorld(np.full((1, 1), sign)) for sign in (1.0, -2.0, -3.0, -4.0)))
    query = summed(Signed())
    alone = world_outputs(query, signs, None, None, {}, some_may_fail=True)
    assert alone.vectors.ravel().tolist() == [1.0, 2.0, 3.0, 4.0]
    together = world_outputs(query, signs, None, None, {})
    assert together.vectors.ravel().tolist() == [-1.0, -2.0, -3.0, -4.0]
    assert own_output(query, alone, np.full((1, 1), -5.0), None) == 5.0


def test_at_most_a_few_rows_show_how_models_behave() -> None:
    rows = np.arange(float(CHECKED_ROWS + 1))[:, None]
    found = world_outputs(
        Query.of_function(total), listed(DataWorld(rows), DataWorld(-rows)), None, None, {}
    )
    np.testing.assert_array_equal(found.rows, rows[:-1])


def test_what_noise_costs_is_the_users_word_or_the_querys() -> None:
    given = world_outputs(
        Query.of_function(total), listed(*ROWS), X, Y, {}, metric=np.diag([1.0, 4.0])
    )
    assert type(given.metric) is not IdentityMetric
    plain = world_outputs(Query.of_function(total), listed(*ROWS), X, Y, {}, metric=None)
    assert isinstance(plain.metric, IdentityMetric)


@pytest.mark.parametrize("seed", range(3))
def test_secrets_and_data_sets_are_drawn_each_as_likely(seed: int) -> None:
    """2,000 draws: a count off by 5 deviations once in a million."""
    worlds, sampler = listed(*ROWS), SeededSampler(np.random.default_rng(seed))
    secrets = [true_secret(worlds, None, sampler) for _ in range(2000)]
    data_sets = [drawn_world(worlds, 1, sampler) for _ in range(2000)]
    assert {true_secret(worlds, "b", sampler), drawn_world(worlds, 0, sampler)} == {1, 0}
    for drawn, two in ((secrets, [0, 1]), (data_sets, [1, 2])):
        values, counts = np.unique(drawn, return_counts=True)
        assert values.tolist() == two
        assert abs(counts[0] - 1000) < 5 * np.sqrt(500)


class Priced(Signed):
    """Notes what its metric was made from."""

    def metric(self, layout, estimator, X, vectors):
        type(self).seen = estimator, X, vectors.ravel().tolist()
        return IdentityMetric()

    def encode(self, estimator, X):
        if estimator == 8.0:
            raise ValueError("no such vector")
        return super().encode(estimator, X)


def test_what_noise_costs_is_of_the_first_model_the_rows_and_the_vectors_there_are() -> None:
    """Of the table where there is one; of the first data set where each brings its own rows."""
    priced = Priced()
    query = summed(priced)
    world_outputs(query, listed(*ROWS), X, Y, {})
    fitted, rows, vectors = priced.seen
    np.testing.assert_array_equal(rows, X)
    assert (fitted, len(vectors)) == (X[ROWS[0].rows].sum(), 3)
    own = [DataWorld(np.full((1, 1), number)) for number in (3.0, 8.0, 5.0)]
    world_outputs(query, listed(*own), None, None, {}, some_may_fail=True)
    fitted, rows, vectors = priced.seen
    assert (fitted, rows.tolist(), vectors) == (3.0, [[3.0]], [3.0, 5.0])


class Halves(Scenario):
    """Two data sets that share rows with each other, and with the table."""

    protects = releases = description = "Halves()"

    def worlds(self, X, y, secret):
        worlds = DataWorld(X[:40], y[:40]), DataWorld(X[20:], y[20:])
        laws = (Law(0, 0, (0,)), Law(1, 0, (1,)))
        return Worlds(("first", "last"), ("none",), worlds, laws, ((0, 1),))


def centred_tops(X, y):
    X -= X.mean(axis=0)
    return X.max(axis=0)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize(
    ("query", "copying"),
    [
        (centred_tops, lambda X, y: centred_tops(X.copy(), y)),
        *[[make_pipeline(StandardScaler(copy=c), LinearRegression()) for c in (False, True)]],
    ],
)
def test_what_works_in_place_changes_no_data_set(query: Any, copying: Any) -> None:
    table = np.random.default_rng(0).normal(3, 1, (60, 2))
    given, target, laws = table.copy(), table[:, 0] ** 2, []
    for each in (query, copying):
        private = SRPPPrivate(each, scenario=Halves(), random_state=0)
        private.fit(given, target, realized="last")
        np.testing.assert_array_equal(given, table)
        value = getattr(private, "released_value_", None)
        laws.append(private.predict(table.copy()) if value is None else value)
    np.testing.assert_allclose(laws[0], laws[1], rtol=1e-9)
