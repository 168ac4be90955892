"""Work on every candidate subset: in parallel, with errors and warnings that quote no data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from pacsklearn._sklearn_compat import one_blas_thread, safe_indexing
from pacsklearn._validation import is_whole, warn_user
from pacsklearn.exceptions import NonDeterministicError, PrivacyLeakWarning
from pacsklearn.kernel.host import host
from pacsklearn.kernel.outputs.run import Outcome, SubsetRun, attempt
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.secret_space import SecretSpace

if TYPE_CHECKING:  # candidates are fitted by what is here
    from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions


def fit_subset(template: Any, X: Any, y: Any, rows: NDArray[np.int64], params: Any) -> Any:
    """Clone fitted on some rows, and those rows of ``X``.

    Entries of ``params`` with one value a row are cut to them.
    """
    cut, model = cut_params(params, rows, X.shape[0]), clone(template)
    targets = () if y is None else (safe_indexing(y, rows),)
    # Cut out anew: a fit may work in place.
    return model.fit(safe_indexing(X, rows), *targets, **cut), safe_indexing(X, rows)


def cut_params(params: Mapping[str, Any], rows: Any, n_rows: int) -> dict[str, Any]:
    """Return the parameters of ``fit``.

    Those with one value for each of ``n_rows`` rows cut to ``rows``.
    """
    return {name: _cut(value, rows, n_rows) for name, value in params.items()}


def over_subsets(
    function: Callable[..., Outcome],
    *args: Any,
    space: SecretSpace,
    options: FitOptions,
    each: Sequence[Any],
) -> list[Outcome]:
    """Return the outcomes of ``function(*args, space, index, one)`` for every candidate, in order.

    ``one`` is that candidate's entry of ``each``: fitted models, which do not leave the process,
    because joblib writes large arguments of its workers to files.
    """
    n_jobs = 1 if any(one is not None for one in each) else options.n_jobs
    tasks = (delayed(function)(*args, space, index, one) for index, one in enumerate(each))
    return SubsetRun.outcomes(tasks, n_jobs, options.verbose)


def _cut(value: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return value
    length = value.shape[0] if getattr(value, "shape", ()) else len(value)
    return safe_indexing(value, rows) if length == n_rows else value


def seeded_clone(estimator: Any) -> Any:
    """Return a clone that prints and caches nothing, with 0 as ``random_state``.

    The same public seed serves every subset: given the seeds, the model is a function of the
    subset alone.
    """
    fresh = clone(estimator)
    params = sorted(fresh.get_params(deep=True).items())
    states: dict[str, Any] = {
        name: 0
        for name, value in params
        if name.split("__")[-1] == "random_state" and not is_whole(value)
    }
    # What a solver prints may quote rows, and compiled code prints past Python's own streams.
    states |= {
        name: type(value)(0)
        for name, value in params
        if name.split("__")[-1] == "verbose" and isinstance(value, (bool, int)) and value > 0
    }
    # A cache on disk would keep what was fitted on the secret's rows, by the name of its content.
    states |= {
        name: None
        for name, value in params
        if name.split("__")[-1] == "memory" and (isinstance(value, str) or hasattr(value, "cache"))
    }
    return fresh.set_params(**states) if states else fresh


def warn_of_one_model(
    estimator: Any, template: Any, candidates: Candidates, is_the_same: Callable[[Any, Any], bool]
) -> None:
    """Warn of candidates that are one model where rows make no difference to it at all.

    What all candidates agree on is released without noise. They may agree honestly; a model that a
    fit on quite other rows gives as well depends on no rows, or on those of some fit before.

    Parameters
    ----------
    estimator, template : estimators
        As it was given, and unfitted with its seeds.
    candidates : Candidates
    is_the_same : callable
        Whether a model fitted on some rows, and these, is the one that all candidates are.
    """
    X, y = candidates.X, candidates.y
    rows = candidates.space.rows(0)
    if y is not None and np.ndim(y) == 1:
        rows = rows[np.argsort(np.asarray(y)[rows], kind="stable")]
    # As unlike subset 0 as its own rows allow: fewer, of one end of y, and scaled. A fit that
    # looks at its rows comes out otherwise.
    rows = np.sort(rows[: -(-3 * rows.size // 5)])

    def work() -> bool:
        numbers = getattr(getattr(X, "dtype", None), "kind", "O") in "biuf"
        other = X * 3 if numbers else X
        model, own = fit_subset(template, other, y, rows, candidates.options.fit_params)
        return is_the_same(model, own)

    if attempt(work, fits=True).value:
        warn_user(
            f"All candidates of {type(estimator).__name__} are one and the same model, and a fit "
            "on other rows gives it as well: it does not look at its rows, always answers one "
            "class, or keeps something from one fit to the next (a cache on its class), which is "
            "then published without noise. Release it only if it is to be the same for any rows.",
            PrivacyLeakWarning,
        )


def unfitted_copy(template: Any) -> Any:
    """Return a clone of an unfitted estimator.

    One whose parameters are plain values need not be read.
    """
    values = vars(template).values()
    plain = all(value is None or isinstance(value, (bool, int, float, str)) for value in values)
    return copy(template) if plain else clone(template)


def same_behaviour(left: Any, right: Any) -> bool:
    """Return whether labels are equal, or numbers equal up to rounding in their precision."""
    left, right = _array(left), _array(right)
    if left.shape != right.shape:
        return False
    if left.dtype.kind not in "fc" and right.dtype.kind not in "fc":
        return bool(np.array_equal(left, right))
    single = left.dtype.itemsize < 8 or right.dtype.itemsize < 8
    tolerance = 1e-3 if single else 1e-6
    size = float(np.nanmax(np.abs(left), initial=0.0))
    return bool(np.allclose(left, right, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _array(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


@final
@dataclass(frozen=True, eq=False)
class JointModels:
    """Candidates' models that were fitted together.

    Parameters
    ----------
    models : list of m fitted estimators or None
        None for one that is to be fitted the ordinary way.
    is_judged : bool
        Whether the fitter itself found candidate 0 to be what its ordinary fit gives.
    """

    models: list[Any]
    is_judged: bool = False


def joint_models(
    template: Any,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    space: Any,
    ordinary: Any,
    *,
    fast_fit: bool,
) -> JointModels:
    """Return fitted model of each candidate, where a subset fitter knows how to fit all together.

    Parameters of ``fit`` (weights) are for ordinary fits. ``ordinary`` is that of candidate 0.

    Raises
    ------
    NonDeterministicError
        Where the fitter finds that candidate 0 is not what ``ordinary`` is.
    """
    m = space.n_subsets
    fitter = registry().subset_fitter_for(template) if fast_fit and not params else None
    if fitter is None:
        unknown = f"no subset fitter knows {type(template).__name__} as it is configured"
        reason = "parameters of fit are for ordinary fits" if params else unknown
        host().fitted(0, m, reason if fast_fit else "fast_fit=False")
        return JointModels([None] * m)
    run = SubsetRun(template)
    with one_blas_thread():
        models = list(run.value(attempt(partial(fitter.fit_all, template, X, y, space), fits=True)))
    alone = sum(model is None for model in models)
    host().fitted(
        m - alone, alone, "their numbers, or how many there are, do not suit the joint fit"
    )
    if models[0] is None:
        return JointModels(models)
    rows = space.rows(0)
    own = safe_indexing(X, rows), None if y is None else safe_indexing(y, rows)
    agrees = run.value(attempt(partial(fitter.agrees, models[0], ordinary, *own)))
    if agrees is False:
        raise differs_from_ordinary(template)
    return JointModels(models, is_judged=agrees is True)


def check_repeated(estimator: Any, joint: JointModels, how: str, *, agree: bool) -> None:
    """Refuse a candidate 0 that two fits make two models of; ``how`` they differ, and what of it.

    Raises
    ------
    NonDeterministicError
    """
    if joint.is_judged or agree:
        return
    if joint.models[0] is not None:
        raise differs_from_ordinary(estimator)
    raise NonDeterministicError(
        f"Two fits of {type(estimator).__name__} on the same subset {how}. Give it a random_state "
        "(one that it has was the same in both), or make it deterministic."
    )


def differs_from_ordinary(estimator: Any) -> NonDeterministicError:
    """Return what is wrong when candidate 0, fitted both ways, is not one model."""
    return NonDeterministicError(
        f"The joint fit of {type(estimator).__name__} on subset 0 differs from its ordinary fit, "
        "by more than its tolerance. Put a StandardScaler before it, inside the pipeline (an "
        "ordinary solver may stop short where columns differ in size), or use "
        "config_context(fast_fit=False); else report it to whoever wrote its subset fitter."
    )
