"""Checks of the parameters of private gradient descent."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Final

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.renyi_unit import check_secret_name
from pacsklearn.core.scenario import Scenario
from pacsklearn.core.srpp_sgd_accountant import ACCOUNTINGS
from pacsklearn.estimators.srpp_sgd.descent import PENALTIES, SCHEDULES
from pacsklearn.information.discrepancy import SAMPLINGS

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_SHARE = Interval(Real, 0, 1, closed="left")
_COUNT = Interval(Integral, 1, None, closed="left")

RUN_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    "learning_rate": [StrOptions(set(SCHEDULES))],
    "sampling": [StrOptions(set(SAMPLINGS))],
    "accounting": [StrOptions(set(ACCOUNTINGS))],
    "eta0": [_POSITIVE],
    "power_t": [_NOT_NEGATIVE],
    "warmup": [_SHARE],
    "momentum": [_SHARE],
    "clip_norm": [_POSITIVE],
    "order": [Interval(Real, 1, None, closed="neither")],
    "delta": [Interval(Real, 0, 1, closed="neither")],
    "epsilon": [_POSITIVE],
    "noise_multiplier": [None, _NOT_NEGATIVE],
    "batch_size": [_COUNT],
    "max_iter": [_COUNT],
    "steps_per_charge": [_COUNT],
}
"""Of every private run, whatever is trained."""

LINEAR_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    **RUN_CONSTRAINTS,
    "penalty": [StrOptions({each for each in PENALTIES if each is not None}), None],
    "alpha": [_NOT_NEGATIVE],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "huber_width": [_POSITIVE],
    "tol": [_NOT_NEGATIVE],
    "n_iter_no_change": [_COUNT],
    "average": [_COUNT, bool],
}
"""Of linear models."""


def check_run(model: Any) -> None:
    """Refuse parameters of a private run that make no sense: also those of other estimators."""
    check_secret_name(model.secret_name, model.ledger)
    check_parameters(model)
    if model.noise_multiplier == 0 and model.ledger is not None:
        raise ValueError(
            "noise_multiplier=0 gives no guarantee, so there is nothing a ledger could count; "
            "leave the ledger out, or give a positive noise_multiplier."
        )
    if model.discrepancy is not None and not isinstance(model.discrepancy, DiscrepancyCap):
        raise TypeError(
            "discrepancy must be a DiscrepancyCap, got an object of type "
            f"{type(model.discrepancy).__name__}."
        )
    if model.scenario is not None and not isinstance(model.scenario, str | Scenario):
        raise TypeError(
            "scenario must be a Scenario or the name of one, got an object of type "
            f"{type(model.scenario).__name__}; DifferingRows(20) hides what any 20 rows decide."
        )


def checked_class_weight(class_weight: Any, classes: Any) -> dict[Any, float] | None:
    """Weights of the classes that a user gave."""
    if class_weight is None:
        return None
    if class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' counts the labels, which are private, and would be released "
            "without noise. Give a dictionary of weights that you chose without looking at them, "
            "class_weight={label: weight}."
        )
    if not isinstance(class_weight, dict):
        raise TypeError(
            "class_weight must be None or a dictionary {label: weight}, got an object of type "
            f"{type(class_weight).__name__}."
        )
    weights = dict.fromkeys(classes, 1.0)
    for label, weight in class_weight.items():
        if isinstance(weight, bool) or not _NOT_NEGATIVE.is_satisfied_by(weight):
            raise ValueError(f"class_weight must hold numbers in [0, inf), got {weight!r}.")
        if label in weights:
            weights[label] = float(weight)
    return weights
