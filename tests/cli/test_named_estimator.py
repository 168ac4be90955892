"""Names of estimators, and estimators of names."""

from __future__ import annotations

import pytest
from sklearn.utils import all_estimators

from pacsklearn import Column, Schema
from pacsklearn.cli.named_estimator import _class, name_of, named_estimator
from pacsklearn.tabular.choosing.families import classifier_families, regressor_families

SCHEMA = Schema(Column(f"x{i}", low=0, high=1) for i in range(6))


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize("families", [classifier_families, regressor_families])
def test_every_built_in_family_has_a_name(families, schema):
    for model in families(schema, 6):
        text, params = name_of(model)
        assert repr(named_estimator(text, params, schema)).replace("[", "(").replace(
            "]", ")"
        ) == repr(model).replace("[", "(").replace("]", ")")


@pytest.mark.parametrize(("name", "kind"), all_estimators(), ids=lambda each: str(each)[:20])
def test_every_estimator_goes_by_its_short_name(name, kind):
    assert _class(name) is kind
