"""Plain parameters are held against ``_parameter_constraints``, in one style."""

from __future__ import annotations

import inspect
from numbers import Integral, Real
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from tests.public import PUBLIC


class Model(BaseEstimator):
    _parameter_constraints = {  # noqa: RUF012 - as scikit-learn writes them
        "share": [Interval(Real, 0, 1, closed="left")],
        "count": [Interval(Integral, 2, None, closed="left"), bool],
        "way": [StrOptions({"b", "a"}), None],
    }

    def __init__(self, share: Any = 0.0, count: Any = 2, way: Any = None) -> None:
        self.share, self.count, self.way = share, count, way


@pytest.mark.parametrize(
    "parameters",
    [{}, {"share": np.float32(0.5)}, {"count": True}, {"count": np.int64(7)}, {"way": "a"}],
)
def test_what_is_allowed_passes(parameters: dict[str, Any]) -> None:
    check_parameters(Model(**parameters))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"share": 1.0}, "share must be a number in [0, 1), got 1.0."),
        ({"share": True}, "share must be a number in [0, 1), got True."),
        ({"share": np.nan}, "share must be a number in [0, 1), got nan."),
        ({"share": "half"}, "share must be a number in [0, 1), got 'half'."),
        ({"count": 1}, "count must be an integer of at least 2 or an instance of 'bool', got 1."),
        ({"count": 2.0}, "count must be an integer of at least 2 or an instance of 'bool', got"),
        ({"way": []}, "way must be one of 'a', 'b' or None, got a list of length 0."),
    ],
)
@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_an_error_names_parameter_expected_and_given(
    parameters: dict[str, Any], words: str, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        check_parameters(Model(**parameters))
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, kind in PUBLIC.items()
        if any(
            "_parameter_constraints" in vars(base) and base.__module__.startswith("pacsklearn")
            for base in getattr(kind, "__mro__", ())
        )
    ],
)
def test_constraints_are_of_parameters_there_are_and_allow_their_defaults(name: str) -> None:
    kind = PUBLIC[name]
    known = set(inspect.signature(kind).parameters)
    assert set(kind._parameter_constraints) <= known
    needed = {"estimator": None, "schema": None, "url": "http://localhost"}
    needed |= {"epsilon": 1.0, "multiplier": 1.0}
    check_parameters(kind(**{key: value for key, value in needed.items() if key in known}))
