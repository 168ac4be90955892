from __future__ import annotations

import pytest
from imblearn.pipeline import Pipeline as ResamplingPipeline
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.utils import all_estimators

from pacsklearn.audit.attack import Attack
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.kinds import public_names
from pacsklearn.plugins import Registry
from pacsklearn.tabular import (
    AdditiveClassifier,
    AdditiveRegressor,
    FixedStructureForestClassifier,
    FixedStructureForestRegressor,
    SchemaColumns,
    SchemaEncoder,
    StepwiseClassifier,
    StepwiseRegressor,
)

MADE_HERE = (
    AdditiveClassifier,
    AdditiveRegressor,
    FixedStructureForestClassifier,
    FixedStructureForestRegressor,
    SchemaColumns,
    SchemaEncoder,
    StepwiseClassifier,
    StepwiseRegressor,
)


@pytest.fixture(scope="module")
def builtins():
    return Registry(list)


def test_every_claimed_estimator_exists(builtins):
    known = {name for _, cls in all_estimators() for name in public_names(cls)}
    known |= {f"pacsklearn.tabular.{kind.__qualname__}" for kind in MADE_HERE}
    known |= {*public_names(ResamplingPipeline)}
    claimed = {
        name for record in builtins.registrations("canonicalizer") for name in record.estimators
    }
    assert claimed <= known, f"not in this scikit-learn: {sorted(claimed - known)}"


def test_every_target_loads(builtins):
    for name in builtins.names("canonicalizer"):
        assert issubclass(builtins.load("canonicalizer", name), Canonicalizer)
    for name in builtins.names("noise_backend"):
        assert isinstance(builtins.noise_backend(name), NoiseBackend)
    for name in builtins.names("attack"):
        assert isinstance(builtins.make("attack", name), Attack)


def test_every_record_is_described(builtins):
    for kind in builtins.kinds():
        assert all(record.description for record in builtins.registrations(kind))


def test_nobody_serves_every_estimator(builtins):
    class Unclaimed(BaseEstimator):
        pass

    with pytest.raises(NoCanonicalizerError):
        builtins.canonicalizer_for(Unclaimed())
    asked = builtins.batch_predictors_for(Unclaimed())
    assert [each.of((Unclaimed(),)) for each in asked] == [None]  # linear models' own
    assert builtins.subset_fitter_for(Unclaimed()) is None
