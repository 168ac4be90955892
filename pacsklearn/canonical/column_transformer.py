"""Feature unions and column transformers: the outputs of several transformers side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector

from pacsklearn._sklearn_compat import (
    output_config,
    safe_indexing,
    set_output_config,
    set_remainder,
)
from pacsklearn.canonical.features import feature_facts
from pacsklearn.canonical.parts import Part, PartsCanonicalizer, decode_parts, encode_parts
from pacsklearn.canonical.stateless import PublicCategoriesCanonicalizer, zero_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout

_PUBLIC = ("drop", "passthrough")


class SideBySide(PartsCanonicalizer):
    """Transformers whose outputs stand side by side, each with a canonicalizer of its own.

    Parameters
    ----------
    parts : tuple of (str, Canonicalizer)
        Those that are neither dropped nor passed through.
    """

    methods = ("transform",)

    def __init__(self, parts: tuple[tuple[str, Canonicalizer], ...]) -> None:
        super().__init__(parts)
        self.is_exact = all(part.is_exact for _, part in parts)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return _side_by_side(self.fitted_parts(estimator, X))


@final
class UnionCanonicalizer(SideBySide):
    """Outputs of a feature union; the transformers' weights are public."""

    name = "union"
    description = "several transformers side by side"
    estimators = ("sklearn.pipeline.FeatureUnion",)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        listed = estimator.transformer_list
        return cls(tuple((name, resolve(part)) for name, part in listed if part not in _PUBLIC))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self.fitted_parts(estimator, X))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        decoded = decode_parts(vector, layout, dict(self.parts), dict(template.transformer_list))
        template.transformer_list = [
            (name, decoded.get(name, part)) for name, part in template.transformer_list
        ]
        return template

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        fitted = dict(estimator.transformer_list)
        return [Part(name, part, fitted[name], X) for name, part in self.parts]


def _side_by_side(parts: list[Part]) -> Any:
    """Return the behaviour of all parts in one table; empty when there is none."""
    shown = [part.canonicalizer.behaviour(part.fitted, part.rows) for part in parts]
    columns = [one.toarray() if sparse.issparse(one) else np.asarray(one) for one in shown]
    if not columns:
        return np.empty((0, 0))
    return np.column_stack(columns)


@final
class ColumnTransformerCanonicalizer(SideBySide):
    """Every part has a canonicalizer of its own; which columns it sees is public.

    Parameters
    ----------
    parts : tuple of (str, Canonicalizer)
        Those that are neither dropped nor passed through, the remainder's included.
    """

    name = "column_transformer"
    description = "each transformer on columns of its own"
    estimators = ("sklearn.compose.ColumnTransformer",)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        blanks = _blanks(estimator).items()
        made = cls(tuple((name, resolve(part)) for name, part in blanks if type(part) is not str))
        # Encoders that may stand before all rows at once, on columns that no rows choose.
        encoders = all(type(part) is PublicCategoriesCanonicalizer for _, part in made.parts)
        chosen = [at for *_, at in estimator.transformers if callable(at)]
        made.is_public = (
            type(estimator) is ColumnTransformer
            and encoders
            and all(part.is_public for _, part in made.parts)
            and all(type(at) is make_column_selector for at in chosen)
        )
        return made

    def encode(self, estimator: Any, X: Any) -> Encoding:
        chosen = tuple((name, _named(columns)) for name, _, columns in estimator.transformers_)
        widths = {
            name: where.stop - where.start for name, where in estimator.output_indices_.items()
        }
        return encode_parts(
            self.fitted_parts(estimator, X),
            columns=chosen,
            widths=tuple(widths.items()),
            sparse_output_=bool(estimator.sparse_output_),
            **feature_facts(estimator),
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        """Learn where the parts' outputs go from rows of zeros, then put in the parts."""
        blanks, widths = _blanks(template), dict(layout.fact("widths"))
        decoded = decode_parts(vector, layout, dict(self.parts), blanks)
        # Lists for arrays and indexes of pandas, which no two parameters are compared by.
        listed = [(name, part, _listed(_named(at))) for name, part, at in template.transformers]
        remainder = template.remainder
        chosen, container = dict(layout.fact("columns")), output_config(template).get("transform")

        def stand_in(name: str, part: Any) -> Any:
            return part if isinstance(part, str) else _StandIn(widths.get(name, 0))

        template.set_params(
            transformers=[
                (name, stand_in(name, part), _listed(chosen[name])) for name, part, _ in listed
            ],
            remainder=stand_in("remainder", remainder),
        )
        set_output_config(template, "default")
        # On rows of zeros, with parts that learn nothing: scikit-learn does its own bookkeeping.
        template.fit(zero_rows(layout))
        if container is None:
            del template._sklearn_output_config
        else:
            set_output_config(template, container)
        template.transformers_ = [
            (name, decoded.get(name, blanks[name] if isinstance(fitted, _StandIn) else fitted), at)
            for name, fitted, at in template.transformers_
        ]
        set_remainder(template, remainder)
        template.sparse_output_ = layout.fact("sparse_output_")
        return template.set_params(transformers=listed, remainder=remainder)

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        """Return the parts that see any columns at all."""
        parts = dict(self.parts)
        return [
            Part(name, parts[name], fitted, safe_indexing(X, columns, axis=1))
            for name, fitted, columns in estimator.transformers_
            if name in parts and hasattr(fitted, "transform") and np.size(columns)
        ]


class _StandIn(TransformerMixin, BaseEstimator):
    """A transformer of the right width that has learned nothing."""

    def __init__(self, width: int) -> None:
        self.width = width

    def fit(self, X: Any, y: Any = None) -> _StandIn:
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        return np.zeros((X.shape[0], self.width))

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _blanks(estimator: Any) -> dict[str, Any]:
    return {
        **{name: part for name, part, _ in estimator.transformers},
        "remainder": estimator.remainder,
    }


def _named(columns: Any) -> Any:
    """Return the columns as something that can be compared."""
    if isinstance(columns, (str, int, slice)) or callable(columns):
        return columns
    return tuple(np.asarray(columns).tolist())


def _listed(columns: Any) -> Any:
    return list(columns) if isinstance(columns, tuple) else columns
