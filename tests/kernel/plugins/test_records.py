"""Records say what they are and refuse what they cannot be."""

from __future__ import annotations

import dataclasses

import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.svm import LinearSVC

from pacsklearn.kernel.plugins.records import is_dotted_name, public_name, public_names
from pacsklearn.plugins import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    NoiseBackendRecord,
    ScenarioRecord,
)

ALL = [
    CanonicalizerRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    AttackRecord,
    BatchPredictorRecord,
]


@pytest.mark.parametrize("record_type", ALL)
def test_records_are_frozen_values(record_type):
    record = record_type("mine", "package.module:Thing", description="a thing")
    assert record == record_type("mine", "package.module:Thing", description="a thing")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.name = "other"


@pytest.mark.parametrize("record_type", ALL)
@pytest.mark.parametrize("name", ["", " mine", "auto", None, 3])
def test_a_name_is_a_plain_string(record_type, name):
    with pytest.raises(ValueError, match=f"name of a {record_type.__name__}"):
        record_type(name, "package.module:Thing")


@pytest.mark.parametrize("record_type", ALL)
@pytest.mark.parametrize("target", ["package.module", "package:", ":Thing", "a b:Thing", None, 3])
def test_a_target_is_an_address_or_callable(record_type, target):
    with pytest.raises(ValueError, match="target of the"):
        record_type("mine", target)


def test_a_target_may_be_a_class_or_a_factory():
    assert NoiseBackendRecord("mine", dict).target is dict
    assert NoiseBackendRecord("mine", lambda: None).name == "mine"


@pytest.mark.parametrize("estimators", [("LinearSVC",), (3,), ("sklearn svm.LinearSVC",)])
def test_estimators_are_qualified_names_or_classes(estimators):
    with pytest.raises(ValueError, match=r"qualified names such as 'sklearn\.svm\.LinearSVC'"):
        CanonicalizerRecord("mine", "package.module:Thing", estimators)


def test_one_estimator_needs_no_tuple():
    record = CanonicalizerRecord("mine", "package.module:Thing", "sklearn.svm.LinearSVC")
    assert record.estimators == ("sklearn.svm.LinearSVC",)
    assert CanonicalizerRecord("mine", "package.module:Thing", dict).estimators == (dict,)
    assert CanonicalizerRecord("mine", "package.module:Thing", [dict]).estimators == (dict,)


def test_a_description_is_a_string():
    with pytest.raises(ValueError, match="description of the NoiseBackendRecord"):
        NoiseBackendRecord("mine", "package.module:Thing", description=None)


def test_private_modules_are_no_part_of_a_name():
    assert public_names(LinearSVC) == ("sklearn.svm.LinearSVC",)
    assert "sklearn.linear_model.PoissonRegressor" in public_names(PoissonRegressor)


def test_a_private_class_keeps_its_name():
    assert public_name("package._private._Estimator") == "package._Estimator"


def test_a_class_nobody_else_could_import_has_no_name():
    class Local:
        pass

    assert public_names(Local) == ()
    assert public_names(type("Interactive", (), {"__module__": "__main__"})) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a.b", True), ("a", False), ("a..b", False), ("a.1b", False), (None, False), ("", False)],
)
def test_dotted_names(value, expected):
    assert is_dotted_name(value) is expected
