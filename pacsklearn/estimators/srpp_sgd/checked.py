"""Checks of the parameters of private gradient descent."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from pacsklearn._validation import check_integer
from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.renyi_unit import check_secret_name
from pacsklearn.core.scenario import Scenario
from pacsklearn.core.srpp_sgd_accountant import ACCOUNTINGS
from pacsklearn.estimators.srpp_sgd.penalty import PENALTIES
from pacsklearn.estimators.srpp_sgd.step_size import SCHEDULES
from pacsklearn.information.discrepancy import SAMPLINGS

__all__ = ["check_parameters", "check_run", "checked_class_weight"]


def check_parameters(model: Any, losses: tuple[str, ...]) -> None:
    """Refuse parameters of a linear model that make no sense, naming the first."""
    _one_of("loss", model.loss, losses)
    _one_of("penalty", model.penalty, PENALTIES)
    _real("alpha", model.alpha, 0, math.inf, "[)")
    _real("l1_ratio", model.l1_ratio, 0, 1, "[]")
    _real("huber_width", model.huber_width, 0, math.inf, "()")
    _real("tol", model.tol, 0, math.inf, "[)")
    check_integer(name="n_iter_no_change", value=model.n_iter_no_change, minimum=1)
    if not isinstance(model.average, bool):
        check_integer(name="average", value=model.average, minimum=1)
    check_run(model)


def check_run(model: Any) -> None:
    """Refuse parameters of a private run that make no sense: also those of other estimators."""
    check_secret_name(model.secret_name, model.ledger)
    _one_of("learning_rate", model.learning_rate, SCHEDULES)
    _one_of("sampling", model.sampling, SAMPLINGS)
    _one_of("accounting", model.accounting, ACCOUNTINGS)
    _real("eta0", model.eta0, 0, math.inf, "()")
    _real("power_t", model.power_t, 0, math.inf, "[)")
    _real("warmup", model.warmup, 0, 1, "[)")
    _real("momentum", model.momentum, 0, 1, "[)")
    _real("clip_norm", model.clip_norm, 0, math.inf, "()")
    _real("order", model.order, 1, math.inf, "()")
    _real("delta", model.delta, 0, 1, "()")
    if model.noise_multiplier is None:
        _real("epsilon", model.epsilon, 0, math.inf, "()")
    else:
        _real("noise_multiplier", model.noise_multiplier, 0, math.inf, "[)")
        if model.noise_multiplier == 0 and model.ledger is not None:
            raise ValueError(
                "noise_multiplier=0 gives no guarantee, so there is nothing a ledger could count; "
                "leave the ledger out, or give a positive noise_multiplier."
            )
    for name in ("batch_size", "max_iter", "steps_per_charge"):
        check_integer(name=name, value=getattr(model, name), minimum=1)
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
        _real("class_weight", weight, 0, math.inf, "[)")
        if label in weights:
            weights[label] = float(weight)
    return weights


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    # Unhashable values must not fail in a comparison with strings.
    if not any(value is each or (isinstance(value, str) and value == each) for each in allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def _real(name: str, value: Any, low: float, high: float, ends: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}.")
    number = float(value)
    above = number >= low if ends[0] == "[" else number > low
    below = number <= high if ends[1] == "]" else number < high
    if not (above and below):
        raise ValueError(f"{name} must lie in {ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}.")
