"""scikit-learn's own checks of estimators, by name."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

Checks = Mapping[str, tuple[Any, Any]]


def checks_of(estimators: Mapping[str, Any]) -> Checks:
    """Give each estimator with each of its checks, by their names.

    ``parametrize_with_checks`` of scikit-learn 1.6 gives a generator, which newer versions of
    pytest refuse.
    """
    return {
        f"{name}-{check_name(check)}": (each, check)
        for name, estimator in estimators.items()
        for each, check in estimator_checks_generator(estimator)
    }


def run(
    checks: Checks, excused: Mapping[str, str] | None = None, again: Container[str] = ()
) -> Callable[..., Any]:
    """Parametrize a test with ``estimator`` and ``check``; ``make test`` runs some of a sample.

    The sample has every check once, and every estimator. Those that another test runs as well are
    named in ``again``, and all left to ``make soak``.
    """
    cases = [
        pytest.param(*pair, id=name, marks=_marks((excused or {}).get(name), name in again))
        for name, pair in checks.items()
    ]
    names = {id(estimator): name.partition("-")[0] for name, (estimator, _) in checks.items()}
    over = pytest.mark.parametrize(("estimator", "check"), cases)
    sampled = pytest.mark.product(
        by=lambda estimator, check: (names[id(estimator)], check_name(check)), only=10
    )
    return lambda test: sampled(over(test))


def check_name(check: Any) -> str:
    """Name of a check and of what it was bound to."""
    if isinstance(check, partial):
        given = [repr(value) for value in check.keywords.values()]
        return "-".join([check_name(check.func), *given])
    return check.__name__


def _marks(reason: str | None, again: bool) -> list[pytest.MarkDecorator]:
    excused = [] if reason is None else [pytest.mark.xfail(reason=reason)]
    return [*excused, *([pytest.mark.soak] if again else [])]
