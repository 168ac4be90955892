"""One vector a world, from a model or a function of its data set."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.candidates.subset_fitting import (
    Outcome,
    Stage,
    StageFailure,
    attempt,
    cut_params,
    same_behaviour,
    seeded_clone,
)
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.scenario import World, Worlds
from pacsklearn.exceptions import (
    GaugeError,
    NonDeterministicError,
    StructureMismatchError,
    SubsetFitError,
)
from pacsklearn.release.statement import public_facts

__all__ = ["FunctionQuery", "ModelQuery", "Query", "world_outputs"]

Floats = NDArray[np.float64]

_CHECKED_ROWS = 32
_CHECKED_WORLDS = 8
_ROUNDING = 1e-8


class Query(ABC):
    """What is computed on each data set, as a vector, and how to go back."""

    name: str
    released: tuple[str, ...]

    @abstractmethod
    def encode(self, X: Any, y: Any, params: Mapping[str, Any], stage: Stage) -> Encoding:
        """Vector of one data set."""

    @abstractmethod
    def align(self, vectors: Floats, layout: Layout, rows: Any) -> Floats:
        """Choose between representations that behave the same."""

    @abstractmethod
    def decode(self, vector: Floats, layout: Layout) -> Any:
        """Released object that holds the numbers of ``vector`` only."""

    @abstractmethod
    def public(self, layout: Layout) -> tuple[str, ...]:
        """Names of what a release shows as it is."""


@final
class ModelQuery(Query):
    """Canonical vector of an estimator fitted on the data set.

    Parameters
    ----------
    estimator : estimator
        Clones get fixed public seeds.
    canonicalizer : Canonicalizer
    """

    def __init__(self, estimator: Any, canonicalizer: Canonicalizer) -> None:
        self.name = type(estimator).__name__
        self.released = canonicalizer.noised
        self._template, self._canonicalizer = seeded_clone(estimator), canonicalizer

    def encode(self, X: Any, y: Any, params: Mapping[str, Any], stage: Stage) -> Encoding:
        model = clone(self._template)
        model = model.fit(X, **params) if y is None else model.fit(X, y, **params)
        stage.name = "encode"
        encoding = self._canonicalizer.encode(model, X)
        if not np.all(np.isfinite(encoding.vector)):
            raise StageFailure("finite")
        stage.name = "decode"
        if not self._behaves(encoding, model, X[:_CHECKED_ROWS]):
            raise StageFailure("gauge")
        return encoding

    def align(self, vectors: Floats, layout: Layout, rows: Any) -> Floats:
        aligned = np.asarray(self._canonicalizer.align(vectors.copy(), layout), dtype=np.float64)
        if aligned.shape != vectors.shape or not np.all(np.isfinite(aligned)):
            raise StageFailure("gauge")
        for before, after in zip(vectors, aligned, strict=True):
            if np.array_equal(before, after):
                continue
            if not self._behaves(Encoding(after, layout), self.decode(before, layout), rows):
                raise StageFailure("gauge")
        return aligned

    def decode(self, vector: Floats, layout: Layout) -> Any:
        return self._canonicalizer.decode(vector, layout, clone(self._template))

    def public(self, layout: Layout) -> tuple[str, ...]:
        return public_facts(layout)

    def _behaves(self, encoding: Encoding, model: Any, rows: Any) -> bool:
        behaviour = self._canonicalizer.behaviour
        decoded = self.decode(encoding.vector, encoding.layout)
        return same_behaviour(behaviour(model, rows), behaviour(decoded, rows))


@final
class FunctionQuery(Query):
    """Numbers that a plain function computes on the data set.

    Parameters
    ----------
    function : callable
        ``function(X, y)``, or ``function(X)`` for one that takes a single argument.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self.released = ("value",)
        self._function, self._takes_y = function, _takes_two(function)

    def encode(self, X: Any, y: Any, params: Mapping[str, Any], stage: Stage) -> Encoding:
        value = self._function(X, y) if self._takes_y else self._function(X)
        stage.name = "encode"
        array = np.asarray(value, dtype=np.float64)
        if not np.all(np.isfinite(array)):
            raise StageFailure("finite")
        return Encoding(array.ravel(), Layout.of({"value": array}))

    def align(self, vectors: Floats, layout: Layout, rows: Any) -> Floats:
        return vectors

    def decode(self, vector: Floats, layout: Layout) -> Any:
        value = layout.unpack(vector)["value"]
        return float(value) if value.ndim == 0 else value

    def public(self, layout: Layout) -> tuple[str, ...]:
        return ("shape of the value",)


def world_outputs(
    query: Query,
    worlds: Worlds,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    *,
    n_jobs: int | None = None,
) -> tuple[Floats, Layout]:
    """Vector of every world, aligned, and their common layout.

    Each is computed from the rows of its own data set alone.

    Parameters
    ----------
    query : Query
    worlds : Worlds
    X, y : array-likes
        The rows given.
    params : mapping
        Passed to ``fit``; entries with one value a row follow the rows.
    n_jobs : int, optional
        As in joblib.

    Raises
    ------
    SubsetFitError, GaugeError, StructureMismatchError, NonDeterministicError
        None quotes a data value.
    """
    first = _unwrap(_computed(query, worlds.worlds[0], X, y, params), query.name)
    tasks = (delayed(_computed)(query, world, X, y, params) for world in worlds.worlds)
    with warnings.catch_warnings():  # workers that are threads put filters back in any order
        outcomes = list(Parallel(n_jobs=n_jobs)(tasks))
    encodings = [_unwrap(outcome, query.name) for outcome in outcomes]
    _warn(outcomes, query.name)
    for encoding in encodings:
        differences = first.layout.differences(encoding.layout)
        if differences:
            raise StructureMismatchError(
                f"{query.name} has another structure on one data set of the scenario than on "
                f"another: {'; '.join(differences)}. Structure cannot be noised, so it must be the "
                "same for every data set: fix it by a parameter, or collect more rows."
            )
    if not _close(encodings[0].vector, first.vector):
        raise NonDeterministicError(
            f"{query.name} gives two results on the same data set, so noise calibrated on the "
            "data sets would not cover its own randomness. Give it a random_state, or make it "
            "deterministic."
        )
    vectors = np.stack([encoding.vector for encoding in encodings])
    if vectors.shape[1] == 0:
        raise SubsetFitError(f"{query.name} has no numbers to release.")
    rows = safe_indexing(X, np.arange(min(_CHECKED_ROWS, X.shape[0])))
    align = partial(_aligned, query, vectors, first.layout, rows)
    return _unwrap(attempt(align), query.name), first.layout


def _computed(query: Query, world: World, X: Any, y: Any, params: Mapping[str, Any]) -> Outcome:
    def work(stage: Stage) -> Encoding:
        own, target = world.data(X, y)
        cut = {} if world.rows is None else cut_params(params, world.rows, X.shape[0])
        return query.encode(own, target, cut, stage)

    return attempt(work)


def _warn(outcomes: Iterable[Outcome], name: str) -> None:
    for kind, count in Counter(kind for each in outcomes for kind in each.warnings).items():
        warnings.warn(
            f"{name}: {kind.__name__} on {count} data set(s) of the scenario (the messages are "
            "withheld because they may quote rows).",
            kind,
            stacklevel=2,
        )


def _aligned(query: Query, vectors: Floats, layout: Layout, rows: Any, stage: Stage) -> Floats:
    stage.name = "align"
    return query.align(vectors, layout, rows)


def _unwrap(outcome: Outcome, name: str) -> Any:
    if outcome.failure is not None:
        _raise(outcome.failure, name)
    return outcome.value


def _raise(failure: Any, name: str) -> NoReturn:
    if failure.stage == "gauge":
        raise GaugeError(
            f"The canonicalizer of {name} does not give back the model it was given: decoded, it "
            "behaves differently on a data set of the scenario. Check it with "
            "pacsklearn.testing.check_canonicalizer."
        )
    if failure.stage == "finite":
        raise SubsetFitError(
            f"{name} gives nan or infinite numbers on a data set of the scenario, which cannot be "
            "noised. Regularise it, scale the features, or collect more rows."
        )
    what = {
        "fit": "could not be computed",
        "encode": "was computed but could not be turned into a vector",
        "decode": "was turned into a vector but not back",
        "align": "could not be aligned with the other data sets",
    }[failure.stage]
    raise SubsetFitError(
        f"{name} {what} on a data set of the scenario: {failure.error} (its message is withheld "
        "because it may quote rows). A resampled or edited data set may lack a class or repeat "
        "rows; try it on resampled rows yourself."
    )


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function without a signature
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    return len(required) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _close(left: Floats, right: Floats) -> bool:
    if left.shape != right.shape:
        return False
    size = float(np.max(np.abs(right), initial=0.0))
    return bool(np.all(np.abs(left - right) <= _ROUNDING * size))
