"""Names of estimators, and estimators of names."""

from __future__ import annotations

from inspect import signature

import pytest
from sklearn.utils import all_estimators

from pacsklearn.cli.named_estimator import name_of, named_estimator
from pacsklearn.tabular import Column, Schema
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


@pytest.mark.filterwarnings("ignore:Class .* is deprecated:FutureWarning")
def test_every_estimator_goes_by_its_short_name():
    needs_others = {name for name, kind in all_estimators() if needs_another(kind)}
    assert len(needs_others) < 30
    for name, kind in all_estimators():
        if name not in needs_others:
            assert type(named_estimator(name)) is kind


def needs_another(kind):
    """Whether an estimator cannot be made without another one or a list."""
    return any(each.default is each.empty for each in signature(kind).parameters.values())


@pytest.mark.parametrize("params", ['{"C": 0.25}', '{"logisticregression__C": 0.25}'])
def test_parameters_are_those_of_what_was_named_behind_a_codebook_too(params):
    made = named_estimator("LogisticRegression", params, SCHEMA)
    assert made[-1].C == 0.25
    made = named_estimator("LogisticRegression", '{"schemaencoder__n_bins": 3}', SCHEMA)
    assert made[0].n_bins == 3
    with pytest.raises(ValueError, match="has no parameter 'c'"):
        named_estimator("LogisticRegression", '{"c": 1}', SCHEMA)
