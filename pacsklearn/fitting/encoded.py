"""Pipelines whose first steps learn nothing: every row is encoded once for all candidates."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, final

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures

from pacsklearn._sklearn_compat import output_config
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.schema.encoder import SchemaEncoder

__all__ = ["EncodedFitter"]

# Their output of a row is a function of that row, of parameters, and of the columns' names.
_LEARN_NOTHING = (SchemaEncoder, PolynomialFeatures)


@final
class EncodedFitter(SubsetFitter):
    """What follows the encoders is fitted together, on rows that were encoded once.

    Parameters
    ----------
    n_encoders : int
        First steps that learn nothing.
    rest : SubsetFitter
        Of the step, or the pipeline of steps, behind them.
    """

    def __init__(self, n_encoders: int, rest: SubsetFitter) -> None:
        self.n_encoders, self.rest = n_encoders, rest
        self.wants_classes = rest.wants_classes

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> EncodedFitter | None:
        steps = [step for _, step in estimator.steps]
        count = 0
        while type(steps[count]) in _LEARN_NOTHING and not output_config(steps[count]):
            count += 1
            if count == len(steps):
                return None
        rest = resolve(_behind(estimator, count)) if count else None
        return None if rest is None else cls(count, rest)

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        encoders, rows = [], X
        for name, step in estimator.steps[: self.n_encoders]:
            encoder = clone(step)
            rows = encoder.fit(rows).transform(rows)
            encoders.append((name, encoder))
        fitted = self.rest.fit_all(_behind(estimator, self.n_encoders), rows, y, space)
        return [None if one is None else self._joined(estimator, encoders, one) for one in fitted]

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool | None:
        for _, encoder in joint.steps[: self.n_encoders]:
            X = encoder.transform(X)
        return self.rest.agrees(
            _behind(joint, self.n_encoders), _behind(ordinary, self.n_encoders), X, y
        )

    def is_unfinished(self, ordinary: Any) -> bool:
        return self.rest.is_unfinished(_behind(ordinary, self.n_encoders))

    def _joined(self, estimator: Any, encoders: list[Any], fitted: Any) -> Any:
        last = estimator.steps[self.n_encoders :]
        steps = fitted.steps if len(last) > 1 else [(last[0][0], fitted)]
        whole = clone(estimator)
        whole.steps = [*((name, copy(encoder)) for name, encoder in encoders), *steps]
        return whole


def _behind(estimator: Any, count: int) -> Any:
    """The step behind the first ones, or a pipeline of them."""
    steps = estimator.steps[count:]
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)
