"""Column transformers: each part on columns of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from pacsklearn._sklearn_compat import output_config, safe_columns, set_output_config
from pacsklearn.canonical.features import feature_facts
from pacsklearn.canonical.parts import (
    Part,
    decode_parts,
    encode_parts,
)
from pacsklearn.canonical.stateless import zero_rows
from pacsklearn.canonical.union import SideBySide
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.information.arrays import Floats

_PUBLIC = ("drop", "passthrough")


@final
class ColumnTransformerCanonicalizer(SideBySide):
    """Every part has a canonicalizer of its own; which columns it sees is public.

    Parameters
    ----------
    transformers : tuple of (str, Canonicalizer)
        Those that are neither dropped nor passed through, the remainder's included.
    """

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> ColumnTransformerCanonicalizer:
        return cls(
            tuple(
                (name, resolve(part))
                for name, part in _blanks(estimator).items()
                if not isinstance(part, str)
            )
        )

    def encode(self, estimator: Any, X: Any) -> Encoding:
        chosen = tuple((name, _named(columns)) for name, _, columns in estimator.transformers_)
        widths = {
            name: where.stop - where.start for name, where in estimator.output_indices_.items()
        }
        return encode_parts(
            self._parts(estimator, X),
            columns=chosen,
            widths=tuple(widths.items()),
            sparse_output_=bool(estimator.sparse_output_),
            **feature_facts(estimator),
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        """Learn where the parts' outputs go from rows of zeros, then put in the parts."""
        blanks, widths = _blanks(template), dict(layout.fact("widths"))
        parts = dict(self.transformers)
        seen = {name for name, _ in layout.children}
        decoded = decode_parts(vector, layout, {name: (parts[name], blanks[name]) for name in seen})
        listed, remainder = template.transformers, template.remainder
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
        template.sparse_output_ = layout.fact("sparse_output_")
        return template.set_params(transformers=listed, remainder=remainder)

    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        """Parts that see any columns at all."""
        parts = dict(self.transformers)
        return [
            Part(name, parts[name], fitted, safe_columns(X, columns))
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
    """Columns as something that can be compared."""
    if isinstance(columns, (str, int, slice)) or callable(columns):
        return columns
    return tuple(np.asarray(columns).tolist())


def _listed(columns: Any) -> Any:
    return list(columns) if isinstance(columns, tuple) else columns
