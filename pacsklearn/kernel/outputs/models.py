"""The fitted models of all candidates, and what they say of a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, final

import numpy as np
from joblib import wrap_non_picklable_objects
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.parallel import Parallel, delayed

from pacsklearn._sklearn_compat import check_features, check_width, one_blas_thread, safe_indexing
from pacsklearn.kernel.host import stage
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.candidates import Candidates, Rules
from pacsklearn.kernel.outputs.run import Outcome, SubsetRun, attempt
from pacsklearn.kernel.outputs.subset_fitting import (
    check_repeated,
    fit_subset,
    joint_models,
    over_subsets,
    same_behaviour,
    seeded_clone,
    warn_of_one_model,
)
from pacsklearn.kernel.outputs.withheld import unprinted
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.secret_space import SecretSpace

# Answers of all candidates held at once while a batch is evaluated.
_MOST_CELLS = 2**24
# Rows that what stands for all models is asked at once: their scores stay in the cache.
_STACKED_ROWS = 1024
# BLAS takes one thread for these by itself, and to set it would take longer than the product.
_SHORT_PRODUCT = 2**12
_CHECKED_ROWS = 64


def stack(models: tuple[Any, ...]) -> BatchPredictor | None:
    """Return whatever predicts with all models at once; None if nothing does."""
    made = (each.of(models) for each in registry().batch_predictors_for(models[0]))
    return next((predictor for predictor in made if predictor is not None), None)


class AnsweringModels(ABC):
    """What every candidate says of a query."""

    @property
    @abstractmethod
    def n_models(self) -> int:
        """Number m of candidates."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns that queries need; None when there are none."""
        return None

    @abstractmethod
    def first(self, n_models: int) -> Self:
        """Return the first so many of the candidates, or all where that takes no longer."""

    @abstractmethod
    def checked(self, X: Any) -> Any:
        """Return the queries as the models take them; errors quote none of them."""

    @abstractmethod
    def labels(self, X: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
        """Return codes in ``classes`` of every candidate's label for every row; shape (n, m)."""

    @abstractmethod
    def values(self, X: Any, method: str, width: int, classes: Any = None) -> NDArray[np.float64]:
        """Return what ``method`` of every candidate gives for every row; shape (n, m, width)."""


@final
@dataclass(frozen=True, eq=False)
class CandidateModels(AnsweringModels):
    """Models fitted on every candidate subset; secret material.

    Parameters
    ----------
    models : tuple of m fitted estimators
    rules : Rules
        What they take as queries.
    stacked : BatchPredictor or None
        Stands for all of them where one exists: one matrix, for linear models.
    n_jobs : int, optional
    feature_names : tuple of str, optional
        As the fit saw them: some estimators of other libraries keep others.
    """

    models: tuple[Any, ...] = field(repr=False)
    rules: Rules
    stacked: BatchPredictor | None = field(default=None, repr=False)
    n_jobs: int | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def n_models(self) -> int:
        return len(self.models)

    def first(self, n_models: int) -> Self:
        # What stands for all is asked sooner than some, one by one.
        return self if self.stacked is not None else replace(self, models=self.models[:n_models])

    def checked(self, X: Any) -> Any:
        checked = self.rules.check(X)
        if self.feature_names is not None and hasattr(checked, "columns"):
            # An estimator on arrays inside would take columns by their places.
            if tuple(checked.columns) != self.feature_names:
                check_features(self.models[0], checked)
        elif self.stacked is not None:
            # What stands for all models asks their parts, which count no columns.
            check_width(self.models[0], checked)
        return checked

    def labels(self, X: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
        # By the public classes, not a candidate's own, which differ where a subset lacks one.
        codes = np.empty((X.shape[0], len(self.models)), dtype=np.int32)
        # A class that no candidate has seen has no place in the stack.
        seen = None if self.stacked is None else np.searchsorted(classes, self.models[0].classes_)
        for rows, predictions in self._evaluated(X, "predict", classes.size):
            if seen is not None:
                codes[rows] = seen[predictions].T
                continue
            for i, labels in enumerate(predictions):
                codes[rows, i] = np.searchsorted(classes, np.ravel(labels))
        return codes

    def values(self, X: Any, method: str, width: int, classes: Any = None) -> NDArray[np.float64]:
        """Return what ``method`` of every candidate gives for every row; shape (n, m, width).

        With ``classes``, columns of a candidate that has not seen some class are put in place.
        """
        values = np.zeros((X.shape[0], len(self.models), width))
        for rows, predictions in self._evaluated(X, method, width):
            for i, numbers in enumerate(predictions):
                columns: Any = slice(None)
                if classes is not None:
                    columns = np.searchsorted(classes, self.models[i].classes_)
                values[rows, i, columns] = np.reshape(numbers, (rows.stop - rows.start, -1))
        return values

    def _evaluated(self, X: Any, method: str, width: int) -> Iterator[tuple[slice, Any]]:
        stacked = self.stacked if method == "predict" else None
        step = max(1, _MOST_CELLS // (len(self.models) * max(width, 1)))
        if stacked is not None:
            step = min(step, _STACKED_ROWS)
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            part = safe_indexing(X, rows)
            with unprinted():
                if stacked is not None:
                    is_short = part.shape[0] * part.shape[1] * len(self.models) < _SHORT_PRODUCT
                    with nullcontext() if is_short else one_blas_thread():
                        outcomes = [_attempted(stacked, method, part)]
                else:
                    # Wrapped: joblib would write large models to files, and with max_nbytes=None,
                    # which keeps them in memory, would begin the workers of the fits anew.
                    wrapped = (wrap_non_picklable_objects(one) for one in self.models)
                    outcomes = Parallel(n_jobs=self.n_jobs)(
                        delayed(_attempted)(model, method, part) for model in wrapped
                    )
            answers = _AnswerRun(self.models[0]).values(outcomes)
            # One line would stand for all candidates: they would agree, and be asked for nothing.
            lines = (len(self.models), part.shape[0])
            if stacked is not None and np.shape(answers[0])[:2] != lines:
                raise TypeError(
                    f"{type(stacked).__name__}.predict must give one line for each of {lines[0]} "
                    f"models, with an answer for each of {lines[1]} rows, got an array of shape "
                    f"{np.shape(answers[0])}."
                )
            yield rows, answers if stacked is None else answers[0]


@final
class _AnswerRun(SubsetRun):
    """Fitted models, asked for their answers."""

    def counted(self, count: int, total: int) -> str:
        return "while candidates answered"


def candidate_models(candidates: Candidates) -> CandidateModels:
    """Fit a clone with fixed public seeds on every candidate subset.

    Raises
    ------
    SubsetFitError, NonDeterministicError
        None quotes a data value.
    """
    estimator, X, y = candidates.estimator, candidates.X, candidates.y
    space, options = candidates.space, candidates.options
    template = seeded_clone(estimator)
    work = (template, X, y, dict(options.fit_params))
    run = SubsetRun(estimator)
    with stage("fits"):
        first = run.value(_fit(*work, space, 0))
        joint = joint_models(template, X, y, work[3], space, first, fast_fit=options.fast_fit)
        outcomes = over_subsets(_fit, *work, space=space, options=options, each=joint.models)
        models = tuple(run.values(outcomes))
    rows = safe_indexing(X, np.arange(min(_CHECKED_ROWS, X.shape[0])))
    agree = attempt(partial(_agree, first, models[0], rows), "predict", fits=True)
    check_repeated(
        estimator,
        joint,
        "predict differently, so its answers would reveal more than the difference between "
        "candidates",
        agree=joint.is_judged or run.value(agree),
    )
    alike = (attempt(partial(_agree, first, each, rows), "predict", fits=True) for each in models)
    if all(run.value(agree, index) for index, agree in enumerate(alike)):
        warn_of_one_model(
            estimator, template, candidates, lambda model, _: _agree(first, model, rows)
        )
    named = hasattr(X, "columns") and hasattr(models[0], "feature_names_in_")
    names, rules = tuple(X.columns) if named else None, candidates.rules(models[0])
    return CandidateModels(models, rules, stack(models), options.n_jobs, names)


def _fit(
    template: Any, X: Any, y: Any, params: Any, space: SecretSpace, index: int, fitted: Any = None
) -> Outcome:
    if fitted is not None:
        return Outcome(fitted)
    return attempt(lambda: fit_subset(template, X, y, space.rows(index), params)[0], fits=True)


def _agree(left: Any, right: Any, rows: Any) -> bool:
    # Some regressors of other libraries have predict_proba, and the same for nearly all rows.
    has_shares = is_classifier(left) and hasattr(left, "predict_proba")
    method = "predict_proba" if has_shares else "predict"
    return same_behaviour(*(getattr(model, method)(deepcopy(rows)) for model in (left, right)))


def _attempted(model: Any, method: str, rows: Any) -> Outcome:
    # A copy for each (rule 1): one that works in place would ask the next about other rows.
    return attempt(lambda: getattr(model, method)(deepcopy(rows)), "predict")
