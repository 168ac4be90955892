"""No estimator of scikit-learn falls through: parameters, private answers, or a reason."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sklearn
from sklearn.frozen import FrozenEstimator

from pacsklearn.kernel.plugins.kinds import public_names
from pacsklearn.plugins import Registry, registry

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "estimator_table.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("estimator_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


TABLE: Any = _load()
ESTIMATORS = TABLE.estimators()
# What is installed beside pacsklearn is not in the table.
OTHERS = {
    claim
    for each in registry().registrations("canonicalizer")
    for claim in each.estimators
    if each.distribution != "pacsklearn"
}
PAGE = TABLE.TABLE.read_text(encoding="utf-8").splitlines()


def claimed(name: str) -> tuple[Any, ...]:
    """Return what decides how an estimator is released, and the kind of estimator it is."""
    kinds = ("canonicalizer", "unsupported")
    claims = [registry().claiming(kind, ESTIMATORS[name]) for kind in kinds]
    return *(each and each.name for each in claims), TABLE.TOLD.get(name)


@pytest.mark.product(by=claimed, only=17)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_released_answers_or_says_why_not(name: str) -> None:
    row = TABLE.row(name)
    assert row.release in ("parameters", "answers", "none")
    assert row.noised if row.release != "none" else row.public
    if TABLE.written_with() == sklearn.__version__ and not OTHERS & {
        *public_names(ESTIMATORS[name])
    }:
        assert str(row) in PAGE, (
            f"docs/estimators.md is out of date for {name}; run scripts/estimator_table.py"
        )


def test_reasons_are_given_for_what_has_no_canonicalizer_only() -> None:
    def named(kind: str) -> list[Any]:
        own = Registry(list).registrations(kind)
        return [name for each in own for name in each.estimators]

    explained = named("unsupported")
    assert len(explained) == len(set(explained)) > 80
    assert not set(named("canonicalizer")) & set(explained)
    if TABLE.written_with() == sklearn.__version__:
        known = {name for cls in ESTIMATORS.values() for name in public_names(cls)}
        assert set(explained) <= known


def test_what_is_left_out_is_what_others_fitted() -> None:
    assert {"FrozenEstimator"} == TABLE.NOT_FITTED_HERE
    assert FrozenEstimator.__name__ in TABLE.NOT_FITTED_HERE


def test_the_committed_table_lists_them_all() -> None:
    written = TABLE.written_with()
    if written != sklearn.__version__:
        pytest.skip(
            f"docs/estimators.md was written with scikit-learn {written}, this is "
            f"{sklearn.__version__}; run scripts/estimator_table.py to compare"
        )
    listed = [line.split("`")[1] for line in PAGE if line.startswith("| `")]
    assert sorted(listed) == sorted(ESTIMATORS)
    assert PAGE[: len(TABLE.HEAD.splitlines())] == TABLE.HEAD.format(version=written).splitlines()
