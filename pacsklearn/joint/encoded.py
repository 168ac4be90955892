"""Encoders that learn nothing, applied once to the rows of all candidates."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from copy import copy, deepcopy
from numbers import Integral
from typing import Any, Self, final

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

from pacsklearn._sklearn_compat import output_config, safe_indexing
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.joint.convex_fitter import ConvexFitter
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.joint.shared_work import made_once
from pacsklearn.joint.standard_scaler import ColumnScaler
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.secret_space import SecretSpace

# Cells of sparse rows that are written out.
_MOST_CELLS = 2**25
# Steps that learn nothing, and refuse rows with gaps.
_PICKY = (PolynomialFeatures, RBFSampler, SplineTransformer)


@final
class EncodedFitter(SubsetFitter):
    """What follows the encoders is fitted together, on rows that were encoded once.

    The last encoder may be a column transformer that standardises some columns: its scalers are
    fitted with what follows, on rows where they pass these columns through.

    Parameters
    ----------
    n_encoders : int
        First steps that learn nothing, but for the scalers of the last.
    scales : bool
        Whether it has any.
    rest : SubsetFitter
        Of the scalers and the step, or the pipeline of steps, behind the encoders.
    behind : SubsetFitter
        Of these without the scalers.
    writes_out : bool
        Whether what follows makes the same of sparse rows as of these as an array.
    """

    def __init__(
        self,
        n_encoders: int,
        scales: bool,
        rest: SubsetFitter,
        behind: SubsetFitter,
        writes_out: bool,
    ) -> None:
        self.n_encoders, self.scales, self.writes_out = n_encoders, scales, writes_out
        self.rest, self.behind = rest, behind
        self.wants_classes = rest.wants_classes

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> Self | None:
        steps = [step for _, step in estimator.steps]
        count = 0
        while count < len(steps) and _learns_nothing(steps[count]):
            count += 1
        scales = count < len(steps) and _only_scales(steps[count])
        count += scales
        if not 0 < count < len(steps):
            return None
        behind = resolve(_behind(estimator, count))
        rest = resolve(_behind(estimator, count, ColumnScaler())) if scales else behind
        if behind is None or rest is None:
            return None
        # Sparse rows cannot be centred, and others than convex models may be solved otherwise.
        centred = any(getattr(step, "with_mean", False) for step in steps[count:])
        writes_out = isinstance(resolve(steps[-1]), ConvexFitter) and not centred
        return cls(count, scales, rest, behind, writes_out)

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        steps = [step for _, step in estimator.steps[: self.n_encoders]]
        public = [_without_scalers(step) for step in steps]

        def encoded() -> tuple[list[Any], list[Any]]:
            fitted, rows = [clone(step) for step in public], [X]
            for encoder in fitted:
                rows.append(_encoded(encoder, rows[-1]))
            return fitted, rows

        facts = [(type(step), step.get_params()) for step in public]
        encoders, seen = made_once("encoding", (X,), facts, encoded)
        nothing = [None] * space.n_subsets
        if not all(_is_laid_out(encoder, X) for encoder in encoders):
            return nothing
        rows, scaler = self._written_out(seen[-1]), None
        if self.scales:
            last = _on_one_row(steps[-1], encoders[-1], seen[-2], rows)
            if last is None:
                return nothing
            encoders, scaler = [*encoders[:-1], last], ColumnScaler(_fitted_scalers(last))
        fitted = self.rest.fit_all(_behind(estimator, self.n_encoders, scaler), rows, y, space)
        return [None if one is None else self._joined(estimator, encoders, one) for one in fitted]

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool | None:
        mine = deepcopy(X)  # a step may work in place
        for at in range(self.n_encoders):
            mine, X = joint.steps[at][1].transform(mine), ordinary.steps[at][1].transform(X)
        mine, X = self._written_out(mine), self._written_out(X)
        if self.scales and not np.allclose(mine, X, rtol=1e-8, atol=1e-8):
            return False
        one, other = (_behind(each, self.n_encoders) for each in (joint, ordinary))
        return self.behind.agrees(one, other, X, y)

    def _written_out(self, rows: Any) -> Any:
        """Return sparse rows as an array where that makes it no other problem, nor a large one."""
        small = sparse.issparse(rows) and math.prod(rows.shape) <= _MOST_CELLS
        return rows.toarray() if self.writes_out and small else rows

    def _joined(self, estimator: Any, encoders: list[Any], fitted: Any) -> Any:
        names = [name for name, _ in estimator.steps]
        own = [copy(encoder) for encoder in encoders]
        is_whole = not self.scales and len(names) == self.n_encoders + 1
        steps = [(names[-1], fitted)] if is_whole else fitted.steps
        if self.scales:
            (_, scaler), *steps = steps
            own[-1].transformers_ = [
                (name, _with_facts(part, scaler.fitted_.get(name)), at)
                for name, part, at in own[-1].transformers_
            ]
        whole = copy(estimator)
        whole.steps = [*zip(names[: self.n_encoders], own, strict=True), *steps]
        return whole


def _learns_nothing(step: Any) -> bool:
    """Return whether a row's output depends on that row, parameters and names alone."""
    if step in (None, "passthrough") or output_config(step):
        return False
    if type(step) is FeatureUnion:
        # Encoders that take any row: who refuses one would refuse it for all candidates.
        parts = [part for _, part in step.transformer_list]
        return all(_takes_any_row(part) and not output_config(part) for part in parts)
    # Of itself alone: a subclass may learn.
    if type(step) in (ColumnTransformer, OneHotEncoder, OrdinalEncoder, SplineTransformer):
        # As its canonicalizer says, which releases it so: what has none may learn.
        with suppress(NoCanonicalizerError):
            return registry().canonicalizer("auto", step).is_public
        return False
    if type(step) is RBFSampler:
        return step.gamma != "scale" and isinstance(step.random_state, Integral)
    return type(step) is PolynomialFeatures or _takes_any_row(step)


def _takes_any_row(step: Any) -> bool:
    """Return whether a step is an encoder by public facts alone."""
    return "learns_nothing" in vars(type(step))


def _is_laid_out(encoder: Any, X: Any) -> bool:
    """Return whether facts alone decide if a column transformer's output of ``X`` is sparse.

    scikit-learn looks at the share of its cells that are no zeros, and every candidate has its own:
    an encoder fills at most one cell a column, and none for a category that it does not know.
    """
    if type(encoder) is not ColumnTransformer:
        return True
    if sparse.issparse(X):
        return False
    dense, filled, width = 0, 0, 0
    for name, part, _ in encoder.transformers_:
        size = encoder.output_indices_[name].stop - encoder.output_indices_[name].start
        is_sparse = getattr(part, "sparse_output", False)
        width, dense = width + size, dense + (0 if is_sparse else size)
        filled += getattr(part, "n_features_in_", 0) if is_sparse else 0  # one without a column
    least, most = dense / max(width, 1), (dense + filled) / max(width, 1)
    return bool(filled == 0 or most < encoder.sparse_threshold or least >= encoder.sparse_threshold)


def _encoded(encoder: Any, rows: Any) -> Any:
    """Return output of an encoder for all rows; nothing but gaps for one that it would refuse."""
    table = double_rows(rows) if isinstance(encoder, _PICKY) else None
    refused = np.arange(0) if table is None else np.flatnonzero(~np.isfinite(table).all(axis=1))
    if refused.size:
        rows = rows.copy()
        (rows.iloc if hasattr(rows, "iloc") else rows)[refused] = 0.0
    with np.errstate(over="ignore"):
        encoded = encoder.fit(rows).transform(rows)
    if refused.size:
        encoded[refused] = np.nan
    return encoded


def _behind(estimator: Any, count: int, scaler: Any = None) -> Any:
    """Return the step behind the first ones, or a pipeline of them, behind a scaler perhaps."""
    steps = estimator.steps[count:]
    if scaler is not None:
        return Pipeline([("scaler", scaler), *steps])
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def _scalers(step: Any) -> list[str]:
    """Return the names of a column transformer's parts that standardise; none of other steps."""
    if type(step) is not ColumnTransformer:
        return []
    parts = [*((name, part) for name, part, _ in step.transformers), ("remainder", step.remainder)]
    return [name for name, part in parts if type(part) is StandardScaler]


def _without_scalers(step: Any) -> Any:
    """Return an unfitted step that passes on what it would standardise."""
    names = _scalers(step)
    return clone(step).set_params(**dict.fromkeys(names, "passthrough")) if names else step


def _only_scales(step: Any) -> bool:
    """Return whether a step learns nothing but how to standardise some columns."""
    names = _scalers(step)
    if not names or step.transformer_weights or output_config(step):
        return False
    params = step.get_params()
    are_plain = not any(output_config(params[name]) for name in names)
    return are_plain and _learns_nothing(_without_scalers(step))


def _on_one_row(step: Any, passing: Any, X: Any, rows: Any) -> Any:
    """Return a column transformer that was fitted on the first row that nobody refuses.

    It knows its columns and their names; None where that is not all that fits have in common.

    Parameters
    ----------
    step : ColumnTransformer
    passing : ColumnTransformer
        The same without scalers, fitted.
    X, rows : array-like
        What it is given, and what ``passing`` makes of it.
    """
    table = double_rows(rows)
    usable = np.arange(0) if table is None else np.flatnonzero(np.isfinite(table).all(axis=1))
    if not usable.size:
        return None
    fitted = clone(step).fit(safe_indexing(X, usable[:1]))
    fitted.sparse_output_ = passing.sparse_output_
    columns = {name: columns for name, _, columns in fitted.transformers_}
    scaled = (safe_indexing(X, columns[name], axis=1) for name in _fitted_scalers(fitted))
    return fitted if all(double_rows(one) is not None for one in scaled) else None


def _fitted_scalers(fitted: Any) -> dict[str, tuple[Any, slice]]:
    """Return each scaler of a fitted column transformer by its name, and where its outputs are."""
    return {
        name: (part, fitted.output_indices_[name])
        for name, part, _ in fitted.transformers_
        if hasattr(part, "n_features_in_") and type(part) is StandardScaler
    }


def _with_facts(part: Any, learned: Any) -> Any:
    """Return a copy that has learned what another one has; itself where there is none."""
    if learned is None:
        return part
    one = copy(part)
    vars(one).update(vars(learned))
    return one
