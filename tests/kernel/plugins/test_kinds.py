"""A class states its name, its estimators and a line about itself; what cannot be is refused."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.svm import LinearSVC

from pacsklearn.kernel.plugins.kinds import is_dotted_name, public_name, public_names
from pacsklearn.plugins import Canonicalizer, NoiseBackend, Registry


def canonicalizer(**facts: Any) -> type:
    def missing(*_: Any) -> Any:
        raise NotImplementedError

    return type("Mine", (Canonicalizer,), {"encode": missing, "decode": missing, **facts})


def registered(**facts: Any) -> Any:
    plugins = Registry(list)
    plugins.register(canonicalizer(name="mine", **facts))
    return next(each for each in plugins.registrations("canonicalizer") if each.name == "mine")


@pytest.mark.parametrize("name", ["", " mine", "auto", None, 3])
def test_a_name_is_a_plain_string(name: Any) -> None:
    with pytest.raises(ValueError, match="name"):
        Registry(list).register(canonicalizer(name=name))


@pytest.mark.parametrize("estimators", [("LinearSVC",), (3,), ("sklearn svm.LinearSVC",)])
def test_estimators_are_qualified_names_or_classes(estimators: Any) -> None:
    with pytest.raises(ValueError, match="LinearSVC"):
        registered(estimators=estimators)


@pytest.mark.parametrize("given", ["clinic.models.Mean", dict])
def test_one_estimator_needs_no_tuple(given: Any) -> None:
    assert registered(estimators=given).estimators == (given,)
    assert registered(estimators=[given]).estimators == (given,)


def test_a_class_without_a_description_is_described_by_its_docstring() -> None:
    assert registered(description="a mean", __doc__="Robust.").description == "a mean"
    assert registered(__doc__="A robust mean.\n\n    More of it.\n").description == "A robust mean."


@pytest.mark.parametrize("made", [dict, 3, None, "package.module:Thing", object()])
def test_what_is_of_no_kind_is_refused(made: Any) -> None:
    with pytest.raises(TypeError, match="NoiseBackend"):
        Registry(list).register(made)


def test_an_instance_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        Registry(list).register(canonicalizer(name="mine")())


def test_an_abstract_class_is_refused() -> None:
    class Half(NoiseBackend):
        name = "half"

    with pytest.raises(TypeError, match="implement"):
        Registry(list).register(Half)


def test_private_modules_are_no_part_of_a_name() -> None:
    assert public_names(LinearSVC) == ("sklearn.svm.LinearSVC",)
    assert "sklearn.linear_model.PoissonRegressor" in public_names(PoissonRegressor)


def test_a_private_class_keeps_its_name() -> None:
    assert public_name("package._private._Estimator") == "package._Estimator"


def test_a_class_nobody_else_could_import_has_no_name() -> None:
    class Local:
        pass

    assert public_names(Local) == ()
    assert public_names(type("Interactive", (), {"__module__": "__main__"})) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a.b", True), ("a", False), ("a..b", False), ("a.1b", False), (None, False), ("", False)],
)
def test_dotted_names(value: Any, expected: bool) -> None:
    assert is_dotted_name(value) is expected
