"""Models and values of one secret subset that is drawn from all balanced ones, by its trials."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from pacsklearn._fit_report import stage
from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import NonDeterministicError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.function_values import (
    FunctionValues,
    function_name,
    function_value,
    function_values,
)
from pacsklearn.kernel.outputs.outputs import CandidateOutputs, equal_but_for_rounding
from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.kernel.release.function import Evaluations
from pacsklearn.sampled.trial_outputs import SubsetMap
from pacsklearn.sampled.trial_support import TrialSupport, time_limit

if TYPE_CHECKING:  # which gives what is here
    from pacsklearn.sampled.drawn_subsets import DrawnSubsets, Members


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnCandidates:
    """What the models of trials, and of the secret, are fitted with; secret material.

    Parameters
    ----------
    estimator : estimator
    X, y : arrays
    space : DrawnSubsets
    options : FitOptions
    """

    estimator: Any
    X: Any
    y: Any
    space: DrawnSubsets
    options: FitOptions

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Fit all trials; the vectors are those that shape the noise, in canonical form."""
        space, sizes = self.space, self.space.sizes
        start, stop = sizes.n_calibration, sizes.n_calibration + sizes.n_certificate
        subsets, calibration = SubsetMap.of(
            self.estimator, self.X, self.y, space, start, self.options, canonicalizer
        )
        with stage("fits"):
            began = time.perf_counter()
            early = subsets.of_subset(space.trial(1))
            limit = time_limit(sizes.time_limit, time.perf_counter() - began)
            further = subsets.of_trials(start, stop)
            late = subsets.of_subset(space.trial(1))
        name = type(self.estimator).__name__
        _check_keeps_nothing(name, early, late)
        support = TrialSupport.of(name, calibration, further, subsets.of_subset, limit)
        return replace(subsets.outputs, supported=support.under)


def drawn_values(space: DrawnSubsets, evaluations: Evaluations) -> FunctionValues:
    """Evaluate a function of the rows on all trials."""
    function, sizes = evaluations.function, space.sizes
    columns = [part for part in (evaluations.X, evaluations.y) if part is not None]

    def own(members: Members) -> tuple[Any, ...]:
        rows = space.rows_of(members)
        return tuple(safe_indexing(part, rows) for part in columns)

    began = time.perf_counter()
    start, stop = sizes.n_calibration, sizes.n_calibration + sizes.n_certificate
    values = function_values(function, lambda number: own(space.trial(number)), start)
    limit = time_limit(sizes.time_limit, (time.perf_counter() - began) / start)

    def on_subset(members: Members) -> Floats | None:
        def value() -> Floats | None:
            output = function_value(function, own(members))
            return output.reshape(-1) if output.shape == values.shape else None

        return attempt(value, fits=True).value

    further = [on_subset(space.trial(number)) for number in range(start, stop)]
    name = function_name(function)
    _check_keeps_nothing(name, values.vectors[0], on_subset(space.trial(0)))
    support = TrialSupport.of(name, values.vectors, further, on_subset, limit)
    return values._replace(supported=support.under)


def _check_keeps_nothing(name: str, early: Floats | None, late: Floats | None) -> None:
    """Refuse what gives another value of a trial once all others were seen: state shows by then."""
    if early is None or (late is not None and equal_but_for_rounding(late, early)):
        return
    raise NonDeterministicError(
        f"{name} gives another value on one trial once all others were evaluated, so the noise "
        "would not cover its own changes. Let it keep no state between calls."
    )
