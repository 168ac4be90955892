"""Candidates' models that one pass over the rows gives, where a subset fitter knows how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacsklearn.candidates.subset_fitting import attempt, unwrap
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.plugin import registry

__all__ = ["differs_from_ordinary", "fast_models"]


def fast_models(
    template: Any,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    space: SecretSpace,
    *,
    fast_fit: bool,
) -> list[Any]:
    """Fitted model of each candidate; None for one that is to be fitted the ordinary way.

    Parameters of ``fit`` (weights) are for ordinary fits.
    """
    fitter = registry().subset_fitter_for(template) if fast_fit and not params else None
    if fitter is None:
        return [None] * space.n_subsets
    found = attempt(lambda _: fitter.fit_all(template, X, y, space))
    return list(unwrap(found, 0, template))


def differs_from_ordinary(estimator: Any) -> str:
    """What is wrong when candidate 0, fitted both ways, is not one model."""
    return (
        f"The fast fit of {type(estimator).__name__} on subset 0 differs from its ordinary fit, by "
        "more than rounding. Use fast_fit=False, and report it to whoever wrote its subset fitter."
    )
