"""Work on every candidate subset: in parallel, with errors and warnings that quote no data."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.exceptions import GaugeError, SubsetFitError

__all__ = [
    "Outcome",
    "Stage",
    "StageFailure",
    "attempt",
    "cut_params",
    "fit_subset",
    "over_subsets",
    "unwrap",
]


class StageFailure(Exception):  # noqa: N818 - it never leaves this module's callers
    """Something a stage found wrong by itself: ``"finite"`` or ``"gauge"``."""


@final
@dataclass
class Stage:
    """How far the work on one subset has come, for the error's text."""

    name: str = "fit"


@final
@dataclass(frozen=True)
class _Failure:
    stage: str
    error: str = ""
    public_message: str = ""


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What a worker sends back: a value or a failure, and the kinds of warnings it saw."""

    value: Any = None
    failure: _Failure | None = None
    warnings: tuple[type[Warning], ...] = ()


def attempt(work: Callable[[Stage], Any]) -> Outcome:
    """Run ``work`` so that of its errors and warnings only the kinds are told.

    Their messages may quote rows.
    """
    stage = Stage()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = work(stage)
        except StageFailure as failure:
            return Outcome(failure=_Failure(str(failure)))
        except Exception as error:  # noqa: BLE001 - whatever it is, its words stay here
            return Outcome(
                failure=_Failure(stage.name, type(error).__name__, _public_message(error))
            )
    kinds = sorted({warning.category for warning in caught}, key=lambda kind: kind.__name__)
    return Outcome(value, warnings=tuple(kinds))


def fit_subset(template: Any, X: Any, y: Any, rows: NDArray[np.int64], params: Any) -> Any:
    """Clone fitted on some rows, and those rows of ``X``.

    Entries of ``params`` with one value a row are cut to them.
    """
    cut = cut_params(params, rows, X.shape[0])
    own, model = safe_indexing(X, rows), clone(template)
    if y is None:
        return model.fit(own, **cut), own
    return model.fit(own, safe_indexing(y, rows), **cut), own


def cut_params(params: Mapping[str, Any], rows: Any, n_rows: int) -> dict[str, Any]:
    """Parameters of ``fit``; those with one value for each of ``n_rows`` rows cut to ``rows``."""
    return {name: _cut(value, rows, n_rows) for name, value in params.items()}


def over_subsets(
    function: Callable[..., Outcome],
    *args: Any,
    space: SecretSpace,
    estimator: Any,
    n_jobs: int | None,
    verbose: int,
) -> Iterator[Any]:
    """Values of ``function(*args, space, index)`` for every candidate, in order.

    Raises
    ------
    SubsetFitError, GaugeError
        For the first failing subset. A warning is given once for all subsets.
    """
    tasks = (delayed(function)(*args, space, index) for index in range(space.n_subsets))
    kinds: Counter[type[Warning]] = Counter()
    for index, outcome in enumerate(_run(tasks, space.n_subsets, n_jobs, verbose)):
        kinds.update(outcome.warnings)
        yield unwrap(outcome, index, estimator)
    for kind, count in kinds.items():
        warnings.warn(
            f"{type(estimator).__name__}: {kind.__name__} in {count} of {space.n_subsets} subset "
            "fits (the messages are withheld because they may quote rows).",
            kind,
            stacklevel=2,
        )


def unwrap(outcome: Outcome, index: int, estimator: Any) -> Any:
    """Value of an outcome, or its failure as an error."""
    if outcome.failure is not None:
        _raise(outcome.failure, index, type(estimator).__name__)
    return outcome.value


def _run(tasks: Iterable[Any], total: int, n_jobs: int | None, verbose: int) -> Iterator[Outcome]:
    if not verbose:
        yield from Parallel(n_jobs=n_jobs)(tasks)
        return
    from rich.progress import track  # only a user who asks for progress needs it

    results = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    yield from track(results, description="fitting candidate subsets", total=total)


def _raise(failure: _Failure, index: int, name: str) -> NoReturn:
    if failure.stage == "gauge":
        raise GaugeError(
            f"The canonicalizer of {name} does not give back the model it was given: decoded, it "
            f"behaves differently on the rows of subset {index}. Only differences that change no "
            "prediction may be removed; check its encode, align and decode with "
            "pacsklearn.testing.check_canonicalizer."
        )
    if failure.stage == "finite":
        raise SubsetFitError(
            f"{name} fitted on subset {index} has nan or infinite parameters, which cannot be "
            "noised. Regularise it, scale the features, or collect more rows."
        )
    what = {"fit": "could not be fitted", "encode": "was fitted but could not be encoded"}.get(
        failure.stage, "was encoded but could not be decoded"
    )
    reason = failure.public_message or (
        "its message is withheld because it may quote rows; fit the estimator yourself on "
        f"SecretSpace.rows({index}) to see it"
    )
    raise SubsetFitError(f"{name} {what} on subset {index}: {failure.error} ({reason}).")


def _public_message(error: Exception) -> str:
    # Wrong parameters are the caller's own words; any other message may hold data.
    return str(error) if type(error).__name__ == "InvalidParameterError" else ""


def _cut(value: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return value
    length = value.shape[0] if getattr(value, "shape", ()) else len(value)
    return safe_indexing(value, rows) if length == n_rows else value
