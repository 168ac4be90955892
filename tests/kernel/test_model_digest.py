from __future__ import annotations

import copy
import hashlib
import json
import math
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Answers, Guarantee, PACPrivate, Parameters, Subsets
from pacsklearn.estimators.model_digest import mark_released, model_digest

DIGEST_OF_EVERY_KIND = "5bd648fd259d84797cb914d18c9450290ee7ded10889c29a826275ce8955fdae"


class Promise:
    def to_json(self):
        return "{}"


@pytest.fixture
def model():
    rows = np.arange(12.0).reshape(6, 2) ** 2
    return make_pipeline(StandardScaler(), Ridge()).fit(rows, rows[:, 0])


def test_copies_and_pickles_have_the_same_digest(model):
    digest = model_digest(model)
    assert model_digest(copy.deepcopy(model)) == digest
    assert model_digest(pickle.loads(pickle.dumps(model))) == digest
    inner = model[-1]
    inner.coef_ = np.asfortranarray(inner.coef_)
    inner.intercept_ = float(inner.intercept_)
    assert model_digest(model) == digest


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m[-1].coef_.__setitem__(0, np.nextafter(m[-1].coef_[0], 9)),
        lambda m: m[-1].set_params(alpha=2.0),
        lambda m: m.steps.reverse(),
        lambda m: setattr(m[0], "extra", None),
        lambda m: setattr(m[0], "mean_", m[0].mean_.reshape(1, -1)),
    ],
)
def test_any_change_changes_the_digest(model, change):
    before = model_digest(model)
    change(model)
    assert model_digest(model) != before


def test_contents_of_every_kind_count():
    def holder(value):
        made = Ridge()
        made.value_ = value
        return model_digest(made)

    loop: list = []
    loop.append(loop)
    kinds = [
        1, 1.0, True, "1", b"1", None, [1], (1,), {1}, {1: 1}, {"1": 1}, np.array([1]), Ridge,
        np.array([1.0]), np.array(["1"]), np.array([1], dtype=object), len, loop, slice(1),
        sparse.csr_matrix([[1.0]]), sparse.csc_matrix([[1.0]]), ["ab", "c"], ["a", "bc"], Ridge(),
    ]  # fmt: skip
    digests = [holder(kind) for kind in kinds]
    assert len(set(digests)) == len(digests)
    assert holder({1, 2, 3}) == holder({3, 2, 1})


class Slotted:
    __module__ = "tests.core.test_model_digest"  # where it stood when its digest was stored
    __slots__ = ("value",)

    def __init__(self, value=None):
        self.value = value


def of_every_kind():
    loop: list = [1]
    loop.append([loop])
    sums = sparse.csr_matrix([[0.0, 1.5], [2.5, 0.0]])
    return {
        "plain": [None, True, False, -7, 2**70, 0.1, "text \u00e9", "\ud800", b"bytes"],
        "typed": (np.int8(3), np.float32(0.5), np.bool_(1), np.uint64(2**63)),
        "sets": [{3, 1, 2}, frozenset({"b", "a"})],
        "arrays": [np.arange(6.0).reshape(2, 3), np.array(["x", None, 1.0], dtype=object)],
        "sparse": [sums, sums.tocsc()],
        "names": [int, len, math, math.sqrt, json.dumps],
        "objects": [loop, slice(1, 2), Slotted([4])],
    }


def test_a_digest_is_that_of_every_version():
    """Or nobody could tell a model of an earlier version from one that was changed."""
    assert model_digest(of_every_kind()) == DIGEST_OF_EVERY_KIND
    # By name and value of what is inside, in the order of names.
    expected = hashlib.sha256()
    number = b"float" + struct.pack("<d", 1.0)
    for part in (b"object sklearn.linear_model.Ridge", b"alpha", number):
        expected.update(struct.pack("<Q", len(part)) + part)
    made = Ridge()
    vars(made).clear()
    made.alpha = 1.0
    assert model_digest(made) == expected.hexdigest()


def test_a_set_in_another_order_and_a_sparse_matrix_of_unsorted_rows_are_the_same():
    one = sparse.coo_matrix(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 0, 0])))
    other = sparse.coo_matrix(([3.0, 2.0, 1.0], ([1, 0, 0], [0, 0, 1])))
    moved = sparse.coo_matrix(([3.0, 2.0, 1.0], ([1, 0, 0], [0, 1, 0])))
    assert model_digest(one) == model_digest(other) != model_digest(moved)


def test_how_outputs_are_shown_is_no_part_of_a_model(model):
    digest = model_digest(model)
    model.set_output(transform="pandas")
    assert model_digest(model) == digest
    assert model_digest(mark_released(model, Promise())) == digest


def test_a_released_model_carries_its_guarantee_through_joblib_and_clone_drops_it(tmp_path):
    import joblib

    rows = np.random.default_rng(0).normal(size=(60, 3))
    private = PACPrivate(Ridge(), secret=Subsets(16)).fit(rows, rows[:, 0])
    released = private.released_estimator_
    assert Guarantee.from_json(released.pacsklearn_guarantee_) == private.guarantee_
    joblib.dump(released, tmp_path / "m.joblib")
    read = joblib.load(tmp_path / "m.joblib")
    assert read.pacsklearn_guarantee_ == released.pacsklearn_guarantee_
    assert read.pacsklearn_digest_ == model_digest(read)
    bare = clone(released)
    assert not hasattr(bare, "pacsklearn_guarantee_")
    assert not hasattr(bare, "pacsklearn_digest_")


def test_values_that_are_no_models_are_left_alone():
    numbers = np.ones(3)
    assert mark_released(numbers, Promise()) is numbers


WHERE_OURS_IS_NOT = """
import sys
sys.modules["pacsklearn"] = None
import joblib
for model, rows, expected in joblib.load(sys.argv[1]):
    answers = getattr(model, "predict", getattr(model, "transform", None))(rows)
    assert (answers == expected).all(), model
"""


RELEASED = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), PCA(2), LogisticRegression()),
    make_pipeline(StandardScaler(), LinearSVC()),
    GaussianNB(),
    KMeans(2, n_init=1),
    PCA(2),
    make_pipeline(MinMaxScaler(), Ridge()),
    OneVsRestClassifier(LogisticRegression()),
    TransformedTargetRegressor(Ridge(), func=np.arcsinh, inverse_func=np.sinh),
]


@pytest.mark.soak
def test_released_models_of_scikit_learn_are_read_where_pacsklearn_is_not_installed(tmp_path):
    import joblib

    rows = np.random.default_rng(0).normal(size=(60, 3))
    written = []
    for estimator in RELEASED:
        target = rows[:, 0] if is_regressor(estimator) else (rows[:, 0] > 0).astype(int)
        private = PACPrivate(estimator, secret=Subsets(16), release=Parameters()).fit(rows, target)
        answers = private.predict if hasattr(private, "predict") else private.transform
        written.append((private.released_estimator_, rows, answers(rows)))
    path = tmp_path / "models.joblib"
    joblib.dump(written, path)
    subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", WHERE_OURS_IS_NOT, str(path)], check=True
    )


def test_elementwise_functions_are_told_apart():
    logs, roots = (FunctionTransformer(function) for function in (np.log1p, np.sqrt))
    assert model_digest(logs) == model_digest(FunctionTransformer(np.log1p))
    assert model_digest(logs) != model_digest(roots)


class Compiled:
    """What a library written in another language holds: it cannot be pickled."""

    def __init__(self):
        self._loaded = (number for number in ())

    def __reduce_ex__(self, protocol):
        raise TypeError("no default __reduce__")

    def __deepcopy__(self, memo):
        return Compiled()


class Wrapping(LogisticRegression):
    """As CatBoost's models: its state is what it pickles, and not what it holds."""

    def __init__(self, C=1.0):
        super().__init__(C=C)
        self._object = Compiled()

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_object"}


def test_what_wraps_a_compiled_object_answers_by_the_state_it_pickles():
    X, y = load_iris(return_X_y=True)
    private = PACPrivate(Wrapping(), release=Answers(20), secret=Subsets(16)).fit(X, y)
    assert set(private.predict(X[:5])) <= set(y)
    assert model_digest(Wrapping()) == model_digest(Wrapping())
    assert model_digest(Wrapping()) != model_digest(Wrapping(C=2.0))


class Forgetful(Ridge):
    """Its pickles leave out what it can make again."""

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "cache_"}


def test_what_pickles_itself_is_marked_as_any_other(monkeypatch):
    model = mark_released(Forgetful(), Promise())
    assert model_digest(model) == model.pacsklearn_digest_
    assert model_digest(pickle.loads(pickle.dumps(model))) == model.pacsklearn_digest_
    assert model_digest(model.set_params(alpha=2.0)) != model.pacsklearn_digest_
    before = model_digest(IsotonicRegression())
    monkeypatch.setattr("sklearn.base.__version__", "another")
    assert model_digest(IsotonicRegression()) == before
