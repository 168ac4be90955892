from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate
from pacsklearn.core.model_digest import mark_released, model_digest


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


def test_a_released_model_carries_its_guarantee_through_joblib_and_clone_drops_it(tmp_path):
    import joblib

    rows = np.random.default_rng(0).normal(size=(60, 3))
    private = PACPrivate(Ridge(), n_subsets=16).fit(rows, rows[:, 0])
    released = private.released_estimator_
    assert released.pacsklearn_guarantee_ == private.guarantee_
    joblib.dump(released, tmp_path / "m.joblib")
    read = joblib.load(tmp_path / "m.joblib")
    assert read.pacsklearn_guarantee_ == private.guarantee_
    assert read.pacsklearn_digest_ == model_digest(read)
    bare = clone(released)
    assert not hasattr(bare, "pacsklearn_guarantee_")
    assert not hasattr(bare, "pacsklearn_digest_")


def test_values_that_are_no_models_are_left_alone():
    numbers = np.ones(3)
    assert mark_released(numbers, "promise") is numbers
