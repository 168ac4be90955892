from __future__ import annotations

import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.svm import LinearSVC

from pacsklearn.plugin.qualified_name import is_dotted_name, public_name, public_names


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
