"""One vector a world, from a model or a function of its data set."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import delayed

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import NonDeterministicError, StructureMismatchError, SubsetFitError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.function_values import function_name, warn_of_cache
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.outputs.outputs import CHECKED_ROWS, CanonicalForm, equal_but_for_rounding
from pacsklearn.kernel.outputs.run import Outcome, Stage, StageFailure, SubsetRun, attempt
from pacsklearn.kernel.outputs.subset_fitting import cut_params, seeded_clone
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.kernel.release.terms import public_facts
from pacsklearn.srpp.scenarios.scenario import DataWorld, World, Worlds
from pacsklearn.universe.metrics import metric_or_auto

_ANCHORS = 8


@final
class _Values(Canonicalizer):
    """A function's value as its own canonical form."""

    noised = ("value",)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        array = np.asarray(estimator)
        # As doubles, complex numbers would lose a part without a word, and gaps their mask.
        if array.dtype.kind not in "biuf" or np.ma.is_masked(estimator):
            raise StageFailure("real")
        array = array.astype(np.float64)
        return Encoding(array.ravel(), Layout.of({"value": array}))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        value = layout.unpack(vector)["value"]
        return float(value) if value.ndim == 0 else value


@final
@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """What is computed on each data set, as a vector: a fitted model, or the value of a function.

    Parameters
    ----------
    name : str
    fit : callable
        ``fit(X, y, params)``: what is computed on one data set.
    form : CanonicalForm
        From what was computed to a vector, and back.
    is_model : bool
        Whether that is a model, which has to behave alike when it was decoded.
    """

    name: str
    fit: Callable[[Any, Any, Mapping[str, Any]], Any]
    form: CanonicalForm
    is_model: bool

    @classmethod
    def of_model(cls, estimator: Any, canonicalizer: Canonicalizer) -> Self:
        """Return the query for an estimator, whose clones get fixed public seeds."""
        form = CanonicalForm(seeded_clone(estimator), canonicalizer)
        return cls(type(estimator).__name__, partial(_model, form.template), form, True)

    @classmethod
    def of_function(cls, function: Callable[..., Any]) -> Self:
        """Return the query for ``function(X, y)``, or ``function(X)`` with a single argument."""
        warn_of_cache(function)
        work = partial(_value, function, _takes_two(function))
        return cls(function_name(function), work, CanonicalForm(BaseEstimator(), _Values()), False)

    def public(self, layout: Layout) -> tuple[str, ...]:
        """Return the names of what a release shows as it is."""
        return public_facts(layout) if self.is_model else ("shape of the value",)


def _model(template: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
    model = clone(template)
    return model.fit(X, **params) if y is None else model.fit(X, y, **params)


def _value(
    function: Callable[..., Any], takes_y: bool, X: Any, y: Any, params: Mapping[str, Any]
) -> Any:
    del params  # of estimators
    return function(X, y) if takes_y else function(X)


@final
class WorldRun(SubsetRun):
    """A query, computed on every data set of a scenario."""

    verb = "computed"
    others = "data sets"
    where = (
        "rows; a resampled or edited data set may lack a class or repeat rows: try it on resampled "
        "rows yourself"
    )

    def __init__(self, query: Query) -> None:
        super().__init__(query.form.template)
        self.name = query.name

    def place(self, index: int) -> str:
        return "a data set of the scenario"  # which one would say something of the secret

    def counted(self, count: int, total: int) -> str:
        return f"on {count} data set(s) of the scenario"


@final
@dataclass(frozen=True, eq=False, repr=False)
class WorldOutputs:
    """Vectors of listed data sets, aligned, with what they have in common. Curator's material.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
    first : Encoding
        Of the first data set, with the layout of all.
    metric : Metric
        What noise costs in each direction.
    rows : array-like
        A few rows of the first data set, to see how models behave.
    failed : ndarray of bool, shape (n_worlds,)
        Data sets that gave no such vector, where that is allowed; their rows are meaningless.
    sizes : tuple of int
        Rows of the smallest and of the largest data set that gave a vector.
    """

    vectors: Floats
    first: Encoding
    metric: Metric
    rows: Any
    failed: NDArray[np.bool_]
    sizes: tuple[int, int]


def world_outputs(
    query: Query,
    worlds: Worlds,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    *,
    metric: Any = "auto",
    some_may_fail: bool = False,
    n_jobs: int | None = None,
) -> WorldOutputs:
    """Return the vector of every data set, aligned with the first, and what they have in common.

    Each is computed from the rows of its own data set and the first one's vector alone.

    Parameters
    ----------
    query : Query
    worlds : Worlds
    X, y : array-likes
        The rows that data sets are made of; None where they bring their own.
    params : mapping
        Passed to ``fit``; entries with one value a row follow the rows.
    metric : "auto", None, array-like or Metric, default="auto"
        "auto" asks the query.
    some_may_fail : bool, default=False
        Note data sets without a usable vector instead of raising; the first is never one.
    n_jobs : int, optional
        As in joblib.

    Raises
    ------
    SubsetFitError, GaugeError, StructureMismatchError, NonDeterministicError
        None quotes a data value.
    """
    run = WorldRun(query)
    fitted, first, _ = run.value(_fitted(query, worlds.worlds[0], X, y, params))
    if first.vector.size == 0:
        raise SubsetFitError(f"{query.name} has no numbers to release.")
    own, _ = worlds.worlds[0].data(X, y)
    rows = safe_indexing(own, np.arange(min(CHECKED_ROWS, own.shape[0])))
    tasks = (delayed(_encoded)(query, world, X, y, params) for world in worlds.worlds)
    outcomes = run.outcomes(tasks, n_jobs)
    run.warn(outcomes)
    if not equal_but_for_rounding(run.value(outcomes[0]).encoding.vector, first.vector):
        raise NonDeterministicError(
            f"{query.name} gives two results on the same data set, so noise calibrated on the "
            "data sets would not cover its own randomness. Give it a random_state, or make it "
            "deterministic."
        )
    if some_may_fail:
        # Each with the first alone, as the table later: aligned with all draws together
        # a vector would depend on the other draws, and the bound is about independent ones.
        anchored = [_anchored(query, each, first, rows) for each in outcomes]
        failed = np.array([vector is None for vector in anchored])
        # A stand-in: the law counts the draws in ``failed`` by themselves.
        vectors = np.stack([first.vector if vector is None else vector for vector in anchored])
        if failed[0]:
            # The first must come through; this raises what went wrong with it.
            same = np.stack([first.vector] * (_ANCHORS + 1))
            run.value(attempt(partial(query.form.align, same, first.layout, rows), "align"))
    else:
        encodings = [run.value(each).encoding for each in outcomes]
        _check_structure(query, first, encodings)
        raw = np.stack([each.vector for each in encodings])
        vectors = run.value(attempt(partial(query.form.align, raw, first.layout, rows), "align"))
        failed = np.zeros(len(vectors), dtype=bool)
    cost = metric_or_auto(metric)
    if cost is None:
        rows_of_all = deepcopy(own if X is None else X)
        canonicalizer = query.form.canonicalizer
        cost = canonicalizer.metric(first.layout, fitted, rows_of_all, vectors[~failed])
    sizes = [each.value.n_rows for each in outcomes if each.value is not None]
    return WorldOutputs(vectors, first, cost, rows, failed, (min(sizes), max(sizes)))


def own_output(query: Query, outputs: WorldOutputs, X: Any, y: Any) -> Floats | None:
    """Return the vector of a table that is not a listed data set, or None.

    What the table's computation raises, warns or prints shows nowhere.
    """
    with silence():
        encoded = _encoded(query, DataWorld(X, y), None, None, {})
        return _anchored(query, encoded, outputs.first, outputs.rows)


def true_secret(worlds: Worlds, realized: Any, sampler: Sampler) -> int:
    """Return the secret that was stated, or one drawn from their prior."""
    return sampler.index(worlds.prior) if realized is None else worlds.index(realized)


def drawn_world(worlds: Worlds, secret: int, sampler: Sampler) -> int:
    """Return one of a secret's data sets under the first prior, each as likely."""
    members = worlds.law(secret, 0).members
    return members[sampler.index(np.ones(len(members)))]


@final
class _Encoded(NamedTuple):
    """A data set's vector, and of how many rows it was."""

    encoding: Encoding
    n_rows: int


def _fitted(query: Query, world: World, X: Any, y: Any, params: Mapping[str, Any]) -> Outcome:
    stage = Stage()

    def work() -> tuple[Any, Encoding, int]:
        own, target = world.data(X, y)
        cut = {} if world.rows is None else cut_params(params, world.rows, X.shape[0])
        # Of a copy: data sets may share rows, and be the curator's table, and a fit work in place.
        fitted = query.fit(*deepcopy((own, target)), cut)
        encoding = query.form.encode(fitted, own, stage, tries=query.is_model)
        return fitted, encoding, int(own.shape[0])

    return attempt(work, stage, fits=True)


def _encoded(query: Query, world: World, X: Any, y: Any, params: Mapping[str, Any]) -> Outcome:
    outcome = _fitted(query, world, X, y, params)
    value = None if outcome.value is None else _Encoded(*outcome.value[1:])
    return Outcome(value, outcome.failure, outcome.warnings)


def _anchored(query: Query, outcome: Outcome, first: Encoding, rows: Any) -> Floats | None:
    """Return the vector aligned with the first data set's alone; None where it has another form."""
    if outcome.failure is not None or first.layout.differences(outcome.value.encoding.layout):
        return None
    # Repeated, so that rules that align with a mean stay near the first.
    stack = np.stack([*[first.vector] * _ANCHORS, outcome.value.encoding.vector])
    fitted = attempt(partial(query.form.align, stack, first.layout, rows), "align")
    return None if fitted.failure is not None else fitted.value[-1]


def _check_structure(query: Query, first: Encoding, encodings: Iterable[Encoding]) -> None:
    for encoding in encodings:
        differences = first.layout.differences(encoding.layout)
        if differences:
            raise StructureMismatchError(
                f"{query.name} has another structure on one data set of the scenario than on "
                f"another: {'; '.join(differences)}. Structure cannot be noised, so it must be the "
                "same for every data set: fix it by a parameter, or collect more rows."
            )


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function without a signature
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    return len(required) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)
