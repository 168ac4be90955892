"""One of the models to choose among, and in what two of them must not differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self, final

import joblib
from sklearn.base import clone

from pacsklearn._validation import has_params
from pacsklearn.universe.row_rules import steps_of

_NEVER = frozenset(
    {
        "budget",
        "class_prior",
        "class_weight",
        "constant",
        "criterion",
        "fill_value",
        "init",
        "prior",
        "priors",
        "random_state",
        "rate",
        "release",
        "schema",
        "stratify",
        "subset_seed",
        "threshold",
        "thresholds",
    }
)
_LONGEST_TUPLE = 8


@final
@dataclass(frozen=True)
class Option:
    """One of the models to choose among.

    Parameters
    ----------
    name : str
    estimator : estimator
    params : mapping
        As the grid lists them.
    """

    name: str
    estimator: Any
    params: Mapping[str, Any]

    @classmethod
    def of(cls, estimator: Any, params: Mapping[str, Any], *, named: bool) -> Self:
        """Return an estimator with some parameters, named after it where it is one of several."""
        # Outer names first: set later, an estimator would undo what was set inside it.
        ordered = sorted(params, key=lambda name: name.count("__"))
        made = clone(estimator)
        for name in ordered:
            made.set_params(**{name: clone(params[name], safe=False)})
        shown = [f"{name}={value_name(params[name])}" for name in ordered]
        if named:
            shown.insert(0, value_name(estimator))
        return cls(", ".join(shown) or "as it is", made, dict(params))


def check_entry(name: Any, value: Any) -> None:
    """Refuse a name, or a value, that a grid must not list.

    Raises
    ------
    ValueError
    """
    if _is_forbidden(str(name).rpartition("__")[2]):
        raise ValueError(
            f"grid must not list {name!r}: seeds, starting points, priors, constants and "
            "thresholds are not noised, so choosing among them could tell about the rows. Give one "
            "value to the estimator itself."
        )
    if has_params(value):
        return
    is_list = isinstance(value, tuple) and len(value) <= _LONGEST_TUPLE
    for one in value if is_list else (value,):
        if not (one is None or isinstance(one, (bool, Real, str))):
            raise ValueError(
                f"grid: values of {name!r} must be numbers, words, None or estimators, got an "
                f"object of type {type(one).__name__}, which could hold anything of the rows."
            )


def _is_forbidden(name: str) -> bool:
    return name in _NEVER or (name.endswith("_init") and name != "n_init")


def value_name(value: Any) -> str:
    """Return an option's value as a leaderboard names it: of a pipeline, its steps."""
    return " + ".join(map(_shown, steps_of(value)))


def _shown(step: Any) -> str:
    text, schema = " ".join(repr(step).split()), getattr(step, "schema", None)
    # Mostly the same in all options, and longer than all that they differ in.
    columns = getattr(schema, "columns", None)
    return text if columns is None else text.replace(repr(schema), f"{len(columns)} columns")


def check_differences(options: list[Option]) -> None:
    """Refuse options that differ in what must not be tuned, wherever it is inside them.

    Raises
    ------
    ValueError
    """
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for option in options:
        for kind, name, value in _fixed_facts(option.estimator):
            digest = joblib.hash(value)
            known, first = seen.setdefault((kind, name), (digest, option.name))
            if known != digest:
                raise ValueError(
                    f"grid: the options {first} and {option.name} differ in {name} of {kind}; "
                    "seeds, starting points, priors, constants and thresholds must be the same in "
                    "all options."
                )


def _fixed_facts(estimator: Any) -> Iterator[tuple[str, str, Any]]:
    params = estimator.get_params(deep=True)
    for path, value in params.items():
        owner, _, name = path.rpartition("__")
        if not _is_forbidden(name) or name == "schema":
            continue
        # None becomes the public seed 0 in every candidate.
        stated = 0 if name == "random_state" and value is None else value
        yield type(params.get(owner, estimator)).__name__, name, stated
