"""Values in the rooms that carry the proofs: nobody changes a law or a figure once it is made."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass

import pytest

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.secret.stated_secret import StatedSecret

# Accounts and a session's certificate add up; a report, and how far one came,
# change while candidates are fitted.
# Budgets and sizes are parameters, which scikit-learn sets.
CHANGING = {"FitReport", "SessionCertificate", "Stage", "_Account"}
CHANGING |= {"Identification", "KOfN", "Membership", "Nats", "SampledSubsets", "Success"}
# Arrays that their repr shows: what a user gave, what was released, and public figures.
SHOWN = {
    "AnisotropicCovariance",
    "Answers",
    "Constant",
    "DiagonalMetric",
    "GuardedSpan",
    "MatrixMetric",
    "ProfilePoints",
    "TableView",
}
ROOMS = ["kernel", "sampled", "srpp.divergence", "srpp.laws", "srpp.release"]
ARRAYS = ("Floats", "Integers", "NDArray", "ArrayLike")


def value_classes(room: str) -> list[type]:
    package = importlib.import_module(f"pacsklearn.{room}")
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and is_dataclass(value) and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_values_are_frozen_and_those_with_arrays_do_not_compare_them(room: str) -> None:
    for value in value_classes(room):
        parameters = value.__dataclass_params__
        assert parameters.frozen or value.__name__ in CHANGING, value
        # Two arrays are equal at every place or at none: == would raise, and hash as well.
        holds_arrays = any(name in str(field.type) for field in fields(value) for name in ARRAYS)
        assert not (holds_arrays and parameters.eq), value


@pytest.mark.parametrize("room", ROOMS)
def test_no_repr_shows_what_candidates_or_rows_hold(room: str) -> None:
    """Rule 5: arrays here are outputs, memberships, beliefs, noise; messages and logs use reprs."""
    for value in value_classes(room):
        if value.__dataclass_params__.repr and value.__name__ not in SHOWN:
            shown = [each.name for each in fields(value) if each.repr]
            arrays = [
                each.name for each in fields(value) if any(a in str(each.type) for a in ARRAYS)
            ]
            assert not set(shown) & set(arrays), value


def test_what_is_stated_is_given_by_name() -> None:
    """Confidence and a prior are both numbers in [0, 1]: in order they would be mistaken."""
    stated = [
        each
        for each in [*value_classes("kernel"), *value_classes("srpp")]
        if issubclass(each, (Guarantee, StatedSecret))
    ]
    assert len(stated) > 5
    for value in stated:
        assert all(each.kw_only for each in fields(value)), value
