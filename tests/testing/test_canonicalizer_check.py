"""The check passes a sound canonicalizer and catches every planted offender."""

from __future__ import annotations

from itertools import count
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor

from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.testing import check_canonicalizer
from pacsklearn.universe.metrics import DiagonalMetric

CALLS = count()


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X + np.random.default_rng(0).normal(0, 1e-3, X.shape), y


class Centroids(ClassifierMixin, BaseEstimator):
    """Nearest class mean, with a bias against large variances."""

    def __init__(self, random_state=None, noisy=False):
        self.random_state = random_state
        self.noisy = noisy

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        self.scale_ = X.std(axis=0)
        if self.noisy:
            self.means_ += np.random.default_rng().normal(size=self.means_.shape)
        return self

    def decision_function(self, X):
        distance = ((X[:, None, :] - self.means_) / self.scale_) ** 2
        return -distance.sum(axis=2)

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


class Sound(Canonicalizer):
    methods = ("predict", "decision_function")
    noised = ("means_", "scale_")

    def encode(self, estimator, X):
        arrays = {"means": estimator.means_, "log_scale": np.log(estimator.scale_)}
        layout = Layout.of(arrays, classes=estimator.classes_)
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector, layout, template):
        arrays = layout.unpack(vector)
        template.means_ = arrays["means"]
        template.scale_ = np.exp(np.clip(arrays["log_scale"], -30, 30))
        template.classes_ = layout.fact("classes")
        return template


def test_a_sound_canonicalizer_passes(iris):
    check_canonicalizer(Sound(), Centroids(), *iris)


def test_other_seeds_and_sizes_pass(iris):
    check_canonicalizer(Sound(), Centroids(), *iris, n_subsets=8, random_state=3)


class Stashes(Sound):
    """Releases the scale without noise, remembered on the canonicalizer."""

    def encode(self, estimator, X):
        self.scale = estimator.scale_
        return super().encode(estimator, X)

    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        template.scale_ = getattr(self, "scale", template.scale_)
        return template


class StashesOnTheClass(Sound):
    kept: ClassVar[dict[str, object]] = {}

    def encode(self, estimator, X):
        type(self).kept["scale"] = estimator.scale_
        return super().encode(estimator, X)

    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        template.spread_ = type(self).kept["scale"]
        return template


class StashesInTheLayout(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        facts = (*layout.facts, ("scale", estimator.scale_))
        return Encoding(vector, Layout(layout.blocks, facts))


class AlwaysEqual:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    __hash__ = None


class HidesInTheLayout(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        facts = (*layout.facts, ("scale", AlwaysEqual(estimator.scale_)))
        return Encoding(vector, Layout(layout.blocks, facts))

    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        template.spread_ = layout.fact("scale").value
        return template


class Remembers(Sound):
    def encode(self, estimator, X):
        self.last = estimator.means_
        return super().encode(estimator, X)


class PoolsTheUniverse(Sound):
    """Encodes all candidates together by what all rows have in common."""

    def encode_jointly(self, models, X, space):
        found = [self.encode(model, X) for model in models]
        return [Encoding(one.vector + X.mean(), one.layout) for one in found]


class RunningMean(Sound):
    """Shrinks towards the subsets it saw before."""

    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        self.seen = [*getattr(self, "seen", []), vector]
        return Encoding(np.mean(self.seen, axis=0), layout)


class Averages(Sound):
    """Changes predictions by looking at the other subsets."""

    def align(self, vectors, layout):
        return 0.2 * vectors + 0.8 * vectors.mean(axis=0)


class AlignsInPlace(Sound):
    def align(self, vectors, layout):
        vectors[:] = vectors[:, ::-1]
        return vectors


class AlignsAtRandom(Sound):
    def align(self, vectors, layout):
        return vectors * (1 + 1e-9 * np.random.default_rng().normal())


class Mutates(Sound):
    def encode(self, estimator, X):
        estimator.means_ /= 1.0 + 1e-9
        return super().encode(estimator, X)


class Nan(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        vector[0] = np.nan
        return Encoding(vector, layout)


class Float32(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        return Encoding(vector.astype(np.float32), layout)


class TooLong(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        return Encoding(np.append(vector, 0.0), layout)


class Bare(Sound):
    def encode(self, estimator, X):
        return super().encode(estimator, X).vector


class Jitters(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        return Encoding(vector + 1e-12 * next(CALLS), layout)


class Lossy(Sound):
    def encode(self, estimator, X):
        vector, layout = super().encode(estimator, X)
        return Encoding(np.round(vector), layout)


class Incomplete(Sound):
    """Forgets an attribute that one of the declared methods needs."""

    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        del template.classes_
        return template

    def behaviour(self, estimator, X):
        return estimator.decision_function(X)


class ReturnsNothing(Sound):
    def decode(self, vector, layout, template):
        super().decode(vector, layout, template)


class WrongMethods(Sound):
    methods = ("transform",)


class OverwritesTheVector(Sound):
    def decode(self, vector, layout, template):
        vector[0] = 0.0
        return super().decode(vector, layout, template)


class Reuses(Sound):
    made: ClassVar[list[object]] = []

    def decode(self, vector, layout, template):
        self.made.append(super().decode(vector, layout, template))
        self.made[0].__dict__.update(self.made[-1].__dict__)
        return self.made[0]


class HoldsRows(Sound):
    def __init__(self, rows):
        self.rows = rows


class ReleasesRows(HoldsRows):
    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        template.support_ = self.rows
        return template


class Fragile(Sound):
    """Fails on a vector that describes an impossible model."""

    noised = ("means_", "scale_")

    def encode(self, estimator, X):
        arrays = {"means": estimator.means_, "scale": estimator.scale_}
        layout = Layout.of(arrays, classes=estimator.classes_)
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector, layout, template):
        arrays = layout.unpack(vector)
        template.means_, template.scale_ = arrays["means"], arrays["scale"]
        if np.any(template.scale_ <= 0):
            raise ValueError("a scale must be positive")
        template.classes_ = layout.fact("classes")
        return template


class ClipsAroundTheUniverse(Sound):
    """Clips the noisy means to a ball around those of all rows."""

    def __init__(self, centre, radius=0.5):
        self.centre = centre
        self.radius = radius

    def decode(self, vector, layout, template):
        template = super().decode(vector, layout, template)
        low, high = self.centre - self.radius, self.centre + self.radius
        template.means_ = np.clip(template.means_, low, high)
        template.scale_ = np.ones_like(template.scale_)
        return template

    def behaviour(self, estimator, X):
        return np.round(estimator.means_, 6)


class Blind(Sound):
    def behaviour(self, estimator, X):
        return np.zeros(3)


class ShortMetric(Sound):
    def metric(self, layout, estimator, X, vectors):
        return DiagonalMetric(np.ones(layout.size - 1))


class NoMetric(Sound):
    def metric(self, layout, estimator, X, vectors):
        return np.eye(layout.size)


class Unnamed(Sound):
    noised = ()


class Misnamed(Sound):
    noised = ("coef_",)


class Paired(Sound):
    def encode(self, estimator, X):
        return tuple(super().encode(estimator, X))


class NotATuple(Sound):
    methods = "predict"


class KeepsAFunction(Sound):
    def __init__(self):
        self.function = lambda: None


@pytest.mark.parametrize(
    ("offender", "rule", "words"),
    [
        (Stashes, "everything released is noised", "scale_"),
        (StashesOnTheClass, "everything released is noised", "spread_"),
        (StashesInTheLayout, "public structure", "scale differs"),
        (HidesInTheLayout, "everything released is noised", "spread_"),
        (Remembers, "secret hygiene", "remembers"),
        (RunningMean, "S-only", "rows outside the subset"),
        (PoolsTheUniverse, "S-only", "encode_jointly"),
        (Averages, "gauge", "align"),
        (AlignsInPlace, "gauge", "changes the array"),
        (AlignsAtRandom, "gauge", "different results"),
        (Mutates, "S-only", "means_"),
        (Nan, "encoding", "nan"),
        (Float32, "encoding", "float64"),
        (TooLong, "encoding", "17 numbers, its layout says 16"),
        (Bare, "encoding", "ndarray, not an Encoding"),
        (Paired, "encoding", "tuple, not an Encoding"),
        (Jitters, "determinism", "twice"),
        (Lossy, "round trip", "does not behave"),
        (Incomplete, "round trip", "predict of the decoded estimator fails"),
        (ReturnsNothing, "round trip", "cannot be asked"),
        (WrongMethods, "round trip", "none of the declared methods"),
        (OverwritesTheVector, "round trip", "changes the vector"),
        (Reuses, "everything released is noised", "the same object"),
        (Fragile, "null budget", "a scale must be positive"),
        (Blind, "null budget", "behaviour does not see the model"),
        (ShortMetric, "metric", "length 15"),
        (NoMetric, "metric", "ndarray"),
        (Misnamed, "round trip", "'coef_' is noised, which"),
        (Unnamed, "declarations", "'noised' is empty"),
        (NotATuple, "declarations", "'methods'"),
        (KeepsAFunction, "declarations", "cannot be pickled"),
    ],
)
def test_offenders_are_caught(iris, offender, rule, words):
    with pytest.raises(AssertionError, match=f"Rule broken: ({rule})[^!]*({words})[^!]*What to do"):
        check_canonicalizer(offender(), Centroids(), *iris, n_subsets=8)


class HidesDigits(Sound):
    """Adds exact digits at 1e-9, of what is kept in the class: the first, the mean, the nearest."""

    kept: ClassVar[list[Any]] = []

    def __init__(self, which="first"):
        self.which = which

    def encode(self, estimator, X):
        encoding = super().encode(estimator, X)
        self.kept.append(encoding.vector)
        return encoding

    def decode(self, vector, layout, template):
        exact = {
            "first": lambda: self.kept[0],
            "mean": lambda: np.mean(np.unique(self.kept, axis=0), axis=0),
            "nearest": lambda: min(self.kept, key=lambda one: np.abs(one - vector).max()),
        }[self.which]()
        return super().decode(vector + 1e-9 * exact, layout, template)


@pytest.mark.parametrize("which", ["first", "mean", "nearest"])
def test_exact_digits_that_are_kept_in_a_class_are_found(iris, which, monkeypatch):
    """In one process that has encoded all candidates, every decode adds the same."""
    monkeypatch.setattr(HidesDigits, "kept", [])
    with pytest.raises(AssertionError, match="everything"):
        check_canonicalizer(HidesDigits(which), Centroids(), *iris)


def test_rows_in_the_canonicalizer_are_found(iris):
    with pytest.raises(AssertionError, match="pickle"):
        check_canonicalizer(HoldsRows(iris[0][:3].copy()), Centroids(), *iris)


@pytest.mark.product(only=2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_the_released_estimator_are_found(iris, dtype, order):
    rows = np.array(iris[0][:60], dtype=dtype, order=order)
    with pytest.raises(AssertionError, match="pickle"):
        check_canonicalizer(ReleasesRows(rows), Centroids(), *iris)


def test_what_was_learned_from_all_rows_is_found(iris):
    centre = Centroids().fit(*iris).means_
    with pytest.raises(AssertionError, match="null"):
        check_canonicalizer(ClipsAroundTheUniverse(centre), Centroids(), *iris)


def test_an_estimator_that_is_not_deterministic_is_found(iris):
    with pytest.raises(AssertionError, match="means_"):
        check_canonicalizer(Sound(), Centroids(noisy=True), *iris)


def test_what_is_no_canonicalizer_is_refused(iris):
    with pytest.raises(AssertionError, match="Canonicalizer"):
        check_canonicalizer(Sound, Centroids(), *iris)


class Constant(Canonicalizer):
    noised = ("constant_",)

    def encode(self, estimator, X):
        layout = Layout.of({"constant": estimator.constant_})
        return Encoding(layout.pack({"constant": estimator.constant_}), layout)

    def decode(self, vector, layout, template):
        template.constant_, template.n_outputs_ = layout.unpack(vector)["constant"], vector.size
        return template


def test_frames_regressors_and_target_vectors(iris):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(iris[0]).add_prefix("column"), pandas.Series(iris[0][:, 0])
    check_canonicalizer(Constant(), DummyRegressor(), X, y)


def test_sparse_rows(iris):
    sparse = pytest.importorskip("scipy.sparse")
    check_canonicalizer(Constant(), DummyRegressor(), sparse.csr_matrix(iris[0]), iris[0][:, 0])
