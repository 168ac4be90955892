"""What additive classifiers and regressors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.additive.solver import Loss, Problem, minimise
from pacsklearn.tabular.additive.terms import (
    Term,
    design_of,
    minimise_monotone,
    monotone_ranges,
    placed,
    terms_of,
)
from pacsklearn.tabular.forests.fixed_structure_forest import checked_weights
from pacsklearn.tabular.schema.column import Column
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.schema.tables import (
    TableReader,
    check_schema,
    checked_table,
    set_table_features,
    warn_of_unread,
)
from pacsklearn.tabular.schema.values import column_values
from pacsklearn.universe.frame import column_names


@dataclass(eq=False, repr=False)
class AdditiveModel(TableReader):
    """Sum of an intercept and one number for each level that a row has."""

    schema: Schema | None = None
    _: KW_ONLY
    feature_range: Any = None
    n_bins: int = 16
    bins: str = "even"
    pairs: Any = ()
    n_pair_bins: int = 4
    ridge: float = 20.0
    smoothness: float = 1000.0
    pair_ridge: float = 60.0
    monotone: Mapping[str, int] | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "bins": [StrOptions({"even", "amounts"})],
        "n_pair_bins": [Interval(Integral, 2, None, closed="left")],
        "ridge": [Interval(Real, 1e-9, None, closed="left")],
        "smoothness": [Interval(Real, 0, None, closed="left")],
        "pair_ridge": [Interval(Real, 1e-9, None, closed="left")],
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the terms.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, or array of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        """
        penalty, design = self.prepare(X), self.design(X)
        y = column_or_1d(y, warn=True)
        check_consistent_length(design, y)
        weights = checked_weights(sample_weight, y.shape[0])
        loss, factors = self.loss_of(y)
        w = self.solve(design, loss, weights * factors, penalty)
        self.set_weights(w, np.asarray(design @ w))
        return self

    @abstractmethod
    def loss_of(self, y: NDArray[Any]) -> tuple[Loss, Any]:
        """Return loss of rows with these targets, and what they weigh beside their own weights."""

    @property
    def terms_(self) -> tuple[Term, ...]:
        """Terms of the fitted model; a function of the schema."""
        check_is_fitted(self, "schema_")
        return self._terms(self.schema_)

    def effects(self) -> dict[str, dict[str, Floats]]:
        """Return what each level of each term adds to the scores, by the names of term and level.

        Returns
        -------
        dict of dict of ndarray of shape (n_scores,)
            A classifier of two classes and a regressor have one score.
        """
        check_is_fitted(self, "coef_")
        levels = np.atleast_2d(self.coef_)
        return {
            term.name: dict(zip(term.labels, levels[:, own].T, strict=True))
            for term, own in placed(self.terms_)
        }

    def design(self, X: Any) -> sparse.csr_matrix:
        """Return ones where a row has a level, after a first column of ones.

        (n_rows, 1 + levels).
        """
        check_is_fitted(self, "schema_")
        X = checked_table(X, self.schema_)
        places = {name: place for place, name in enumerate(self.schema_.names)}
        codes = [
            term.codes([column_values(X, one.name, places[one.name]) for one in term.columns])
            for term in self.terms_
        ]
        return design_of(codes, [term.n_levels for term in self.terms_])

    def check_codebook(self) -> None:
        """Refuse parameters that no table would suit."""
        check_parameters(self)

    def check_table(self, X: Any) -> None:
        """Refuse a table that the public bins do not suit."""
        checked = clone(self)
        checked.prepare(X)
        warn_of_unread(X, checked.schema_)

    def prepare(self, X: Any) -> Floats:
        """Check parameters and table, learn names; the penalty of the weights."""
        check_parameters(self)
        self.schema_ = self._schema(X)
        set_table_features(self, checked_table(X, self.schema_))
        terms = self.terms_
        monotone_ranges(terms, self.monotone)
        return penalty_matrix(terms, self.ridge, self.smoothness, self.pair_ridge)

    def solve(self, design: Any, loss: Loss, weights: Floats, penalty: Floats) -> Floats:
        """Return the weights of shape (1 + levels, n_scores) of the model of these rows."""
        problem = Problem(design, loss, weights[:, None], penalty)
        ranges = monotone_ranges(self.terms_, self.monotone)
        if ranges:
            if loss.n_scores > 1:
                raise ValueError(
                    f"monotone needs a target of two classes or of numbers, got {loss.n_scores} "
                    "classes; leave monotone out."
                )
            solution, converged = minimise_monotone(problem, ranges)
            w = solution[:, None]
        else:
            several, each = minimise(problem)
            w, converged = several[:, :, 0], bool(each[0])
        if not converged:
            raise SubsetFitError(
                f"{type(self).__name__} did not converge; use a larger ridge (it is {self.ridge})."
            )
        return w

    def set_weights(self, w: Floats, scores: Floats) -> None:
        """Take over weights of shape (1 + levels, k); ``scores`` are those of the rows fitted."""
        self.intercept_, self.coef_ = w[0].copy(), w[1:].T.copy()
        scores = scores - scores.mean(axis=1, keepdims=True) if w.shape[1] > 1 else scores
        self.scale_ = float(np.sqrt(np.mean(np.square(scores))))

    def scores(self, X: Any) -> Floats:
        """Return the scores of shape (n_rows, n_scores)."""
        check_is_fitted(self, "coef_")
        weights = np.vstack([self.intercept_, self.coef_.T])
        return np.asarray(self.design(X) @ weights)

    def _terms(self, schema: Schema) -> tuple[Term, ...]:
        sizes = int(self.n_bins), int(self.n_pair_bins)
        return terms_of(schema, self.pairs, *sizes, self.bins)

    def _schema(self, X: Any) -> Schema:
        if self.schema is not None:
            if self.feature_range is not None:
                raise ValueError("Give schema or feature_range, not both: each states the ranges.")
            check_schema(self.schema)
            return self.schema
        if self.feature_range is None:
            raise ValueError(
                f"{type(self).__name__} needs public bins: give schema=Schema([...]), or for "
                "numbers feature_range=(low, high). Bins looked up in the rows would publish some."
            )
        names = column_names(X)
        if names is None:
            width = np.shape(X)[1] if np.ndim(X) == 2 else 0
            names = [f"x{place}" for place in range(width)]
        try:
            low, high = (np.broadcast_to(end, (len(names),)) for end in self.feature_range)
        except (TypeError, ValueError):
            raise ValueError(
                "feature_range must be a pair (low, high), each a number or one number for each of "
                f"the {len(names)} features."
            ) from None
        return Schema(
            Column(name, low=float(a), high=float(b))
            for name, a, b in zip(names, low, high, strict=True)
        )


# Of the ridge: what a level of an ordered column costs beside its distance to its neighbours.
_LEVELS = 0.02


def penalty_matrix(
    terms: Sequence[Term], ridge: float, smoothness: float, pair_ridge: float
) -> NDArray[np.float64]:
    """Return the matrix ``P`` of the penalty ``w' P w / 2``; the intercept comes first and is free.

    Notes
    -----
    Levels without an order: ``ridge`` times their squares. Ordered levels: ``ridge`` times the
    squared steps between neighbours, ``smoothness`` times the squared differences between
    neighbouring steps, and a little of the ridge on the levels themselves, so that the problem
    stays strictly convex. The levels of pairs count as without order.
    """
    size = 1 + sum(term.n_levels for term in terms)
    penalty = np.zeros((size, size))
    for term, own in placed(terms, 1):
        strength = ridge if len(term.columns) == 1 else pair_ridge
        block = np.eye(term.n_levels) * strength
        if term.n_ordered:
            ordered = slice(0, term.n_ordered)
            block[ordered, ordered] = np.eye(term.n_ordered) * _LEVELS * strength
            for order, weight in ((1, strength), (2, smoothness)):
                steps = np.diff(np.eye(term.n_ordered), order, axis=0)
                block[ordered, ordered] += weight * steps.T @ steps
        penalty[own, own] = block
    return penalty
