"""The contract, the registry, and a release from end to end."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest
from pacsklearn_template.dummy_regressor import DummyRegressorCanonicalizer
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor

from pacsklearn import PACPrivate
from pacsklearn.plugins import registry
from pacsklearn.testing import check_canonicalizer

X, Y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    "estimator",
    [
        DummyRegressor(),
        DummyRegressor(strategy="median"),
        DummyRegressor(strategy="quantile", quantile=0.3),
    ],
)
def test_it_keeps_the_contract(estimator):
    check_canonicalizer(DummyRegressorCanonicalizer(), estimator, X, Y)


def test_several_outputs():
    check_canonicalizer(DummyRegressorCanonicalizer(), DummyRegressor(), X, np.c_[Y, np.sqrt(Y)])


def test_the_registry_finds_it_by_its_entry_point():
    found = registry().canonicalizer_for(DummyRegressor())
    assert isinstance(found, DummyRegressorCanonicalizer)
    provenance = registry().provenance("canonicalizer", "dummy_regressor")
    assert provenance.distribution == "pacsklearn-template"
    assert provenance.version == metadata.version("pacsklearn-template")
    assert registry().failures == ()


# What this plugin predicts is a constant, and a release of one says so.
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning")
def test_a_release():
    private = PACPrivate(DummyRegressor(), budget=1 / 4).fit(X, Y)
    assert private.predict(X[:2]).shape == (2,)
    assert private.released_estimator_.constant_ != Y.mean()
    assert "constant_" in str(private.guarantee_)
