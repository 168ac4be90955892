"""A kind of release owns its arguments: the estimator states them, and nothing else knows them."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from pacsklearn import PACPrivate
from pacsklearn.plugins import register, registry

KINDS = [each.made for each in registry().registrations("release_kind")]
IRIS = load_iris(return_X_y=True)


def arguments(kind: type) -> dict[str, Any]:
    return {each.name: each.default for each in fields(kind) if "about" in each.metadata}


@pytest.mark.parametrize("kind", KINDS)
def test_its_arguments_are_parameters_with_the_same_defaults(kind: type) -> None:
    stated = inspect.signature(PACPrivate).parameters
    assert arguments(kind)
    for name, default in arguments(kind).items():
        assert stated[name].default == default, name


@pytest.mark.parametrize("release", ["parameters", "responses"])
def test_what_another_kind_takes_is_refused(release: str) -> None:
    own = arguments(registry().load("release_kind", release))
    others = {name for kind in KINDS for name in arguments(kind)} - own.keys()
    assert len(others) > 5
    for name in sorted(others - {"tune"}):
        stated = {name: "ledger" if name == "store" else object()}
        with pytest.raises(ValueError, match=rf"^{name} is about "):
            PACPrivate(LogisticRegression(), release=release, **stated).fit(*IRIS)


def test_there_is_advice_about_each() -> None:
    assert {kind.released_as for kind in KINDS} == set(registry().names("advice"))


def test_only_our_own_distributions_add_kinds() -> None:
    assert not {"release_kind", "advice"} & set(registry().kinds())

    class Mine(registry().load("release_kind", "parameters")):  # type: ignore[misc]
        name = "mine"

    with pytest.raises(TypeError, match="Give a class of one of the kinds"):
        register(Mine)
